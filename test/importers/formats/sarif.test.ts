import { describe, expect, it } from 'vitest';
import { sarif } from '../../../src/importers/formats/sarif/sarif.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import type { ReportedFinding } from '../../../src/importers/report.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// ESLint's is made by scripts/fixtures/eslint.sh; the others after the schema, its appendix K and public examples.
describeFormat(sarif, { readsTwice: true });

const TOOL = { driver: { name: 'Probe', rules: [{ id: 'r', shortDescription: { text: 'Rule' } }] } };
const result = (members: Record<string, unknown> = {}, line = 3, text = 'eval(x)') => ({
  ruleId: 'r',
  message: { text: 'Told.' },
  locations: [
    {
      physicalLocation: { artifactLocation: { uri: 'a.js' }, region: { startLine: line, snippet: { text } } },
    },
  ],
  ...members,
});
const report = (...runs: object[]) => JSON.stringify({ version: '2.1.0', runs });
const identity = (finding: ReportedFinding | undefined) => identityOf(finding as ReportedFinding, 'Probe');
const identitiesOf = async (...results: object[]) =>
  (await findingsOf(sarif, report({ tool: TOOL, results }))).map(identity);

describe('Results of SARIF', () => {
  it('are the same on another line, with other spaces and another message, and others elsewhere', async () => {
    const [one, moved, changed, path] = await identitiesOf(
      result({}, 3, 'eval( x )'),
      result({ message: { text: 'Other words.' }, level: 'error' }, 40, '  eval(\n  x )'),
      result({}, 3, 'eval(y)'),
      result({ locations: [{ physicalLocation: { artifactLocation: { uri: 'b.js' } } }] }),
    );
    expect(moved).toBe(one);
    expect(new Set([one, changed, path]).size).toBe(3);
  });

  it('go by their fingerprints, in the oldest version, where those are some', async () => {
    const [one, newer, other, none, partial, column] = await identitiesOf(
      result({ fingerprints: { 'id/v1': 'aa' } }),
      result({ fingerprints: { 'id/v2': 'bb', 'id/v1': 'aa' } }, 9, 'another place'),
      result({ fingerprints: { 'id/v1': 'cc' } }),
      result({ fingerprints: { 'id/v1': 'requires login' } }),
      result({ partialFingerprints: { lineHash: 'h:1', startColumnFingerprint: '4' } }, 9, 'x'),
      result({ partialFingerprints: { lineHash: 'h:1', startColumnFingerprint: '9' } }, 12, 'y'),
    );
    expect(newer).toBe(one);
    expect(column).toBe(partial);
    expect((await identitiesOf(result()))[0]).toBe(none);
    expect(new Set([one, other, none, partial]).size).toBe(4);
  });

  it('are the same whether the tool stands before or behind them', async () => {
    const results = [result(), result({ ruleId: 'r/part' }, 9, 'z')];
    const before = await findingsOf(
      sarif,
      report({ tool: TOOL, automationDetails: { id: 'app/' }, results }),
    );
    const behind = await findingsOf(
      sarif,
      report({ results, automationDetails: { id: 'app/' }, tool: TOOL }),
    );
    expect(behind).toEqual(before);
    expect(before.map(({ title, source }) => [title, source])).toEqual([
      ['Rule', 'Probe'],
      ['Rule', 'Probe'],
    ]);
  });

  it('are not taken from a report that ends before it tells of their tool', async () => {
    const whole = report({ results: [result()], tool: TOOL });
    const { records, error } = await readRecords(sarif, whole.slice(0, whole.indexOf('"Probe"')));
    expect(records).toEqual([]);
    expect(error).toBeDefined();
  });

  it('have the severity of the score, else of the level, which the rule may tell', async () => {
    const rules = [
      { id: 'scored', properties: { 'security-severity': '9.1' }, defaultConfiguration: { level: 'note' } },
      { id: 'levelled', defaultConfiguration: { level: 'note' } },
      { id: 'silent' },
    ];
    const results = [
      { ruleId: 'scored', message: { text: 'm' } },
      { ruleId: 'levelled', message: { text: 'm' } },
      { ruleId: 'levelled', level: 'error', message: { text: 'm' } },
      { ruleId: 'silent', message: { text: 'm' } },
      { ruleId: 'silent', kind: 'review', message: { text: 'm' } },
    ];
    const found = await findingsOf(sarif, report({ tool: { driver: { name: 'Probe', rules } }, results }));
    expect(found.map(({ severity }) => severity)).toEqual([
      'Critical',
      'Low',
      'High',
      'Medium',
      'Informational',
    ]);
  });

  it('cover what the run is called, without what is of this run alone, unless it failed', async () => {
    const run = (id: string, members: object = {}) => ({
      tool: TOOL,
      automationDetails: { id },
      results: [],
      ...members,
    });
    const { records } = await readRecords(
      sarif,
      report(
        run('app/main/2026-11-20T10:00'),
        run('app/2f1c9a34-1111-4222-8333-444455556666'),
        run('lib', { invocations: [{ executionSuccessful: false }] }),
        { tool: TOOL, results: [] },
      ),
    );
    const covered = records.flatMap((record) => (record.kind === 'covered' ? [record.target] : []));
    expect(covered).toEqual([{ artifact: 'app/main' }, { artifact: 'app' }, { artifact: 'Probe' }]);
  });

  it('lie below the root of their run, wherever it was built', async () => {
    const locations = [{ physicalLocation: { artifactLocation: { uri: 'file:///build/17/src/a%20b.js' } } }];
    const [found] = await findingsOf(
      sarif,
      report({
        tool: TOOL,
        results: [result({ locations })],
        originalUriBaseIds: { ROOT: { uri: 'file:///build/17/' } },
      }),
    );
    expect(found?.target).toEqual({ artifact: 'Probe', path: 'src/a b.js' });
  });
});
