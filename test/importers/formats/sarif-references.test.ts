import { describe, expect, it } from 'vitest';
import { sarif } from '../../../src/importers/formats/sarif/sarif.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { textToMarkdown } from '../../../src/importers/parsing/text-to-markdown.ts';
import type { ReportedFinding } from '../../../src/importers/report.ts';
import { findingsOf } from '../format-harness.ts';

const report = (run: object) => JSON.stringify({ version: '2.1.0', runs: [run] });
const identity = (finding: ReportedFinding) => identityOf(finding, 'Probe');

describe('Results of SARIF refer to', () => {
  const guid = (digit: number) => `${String(digit).repeat(8)}-1111-4111-8111-11111111111a`;
  const text = (value: string) => ({ text: value });
  const tool = {
    driver: {
      name: 'Probe',
      guid: guid(1),
      rules: [
        { id: 'one', guid: guid(2), shortDescription: text('One'), messageStrings: { m: text('Of {0}') } },
        { id: 'two', shortDescription: text('Two') },
      ],
      globalMessageStrings: { m: text('Global {0}'), 'a.b': text('Global {1}{0}') },
    },
    extensions: [
      { name: 'Core' },
      {
        name: 'Plug',
        guid: guid(3),
        rules: [{ id: 'one', guid: guid(4), shortDescription: text('Plugged') }],
        globalMessageStrings: { m: text('Plug {0}') },
      },
    ],
  };
  /** Reads a run with its members in this order and in the other one. */
  const foundIn = async (run: object) => {
    const findings = await findingsOf(sarif, report(run));
    const turned = await findingsOf(sarif, report(Object.fromEntries(Object.entries(run).reverse())));
    expect(turned).toEqual(findings);
    return findings;
  };

  it('a rule by index, id, GUID and component', async () => {
    const references: [object, string][] = [
      [{ ruleIndex: 1 }, 'Two'],
      [{ ruleId: 'one' }, 'One'],
      [{ ruleId: 'two/part/x' }, 'Two'],
      [{ rule: { guid: guid(2).toUpperCase() } }, 'One'],
      [{ rule: { id: 'two' } }, 'Two'],
      [{ rule: { guid: guid(4) } }, 'Plugged'],
      [{ ruleId: 'one', rule: { toolComponent: { name: 'Plug' } } }, 'Plugged'],
      [{ rule: { index: 0, toolComponent: { guid: guid(3) } } }, 'Plugged'],
      [{ rule: { index: 0, toolComponent: { index: 1 } } }, 'Plugged'],
      [{ rule: { index: 0, toolComponent: { name: 'Probe' } } }, 'One'],
      [{ rule: { index: 0, toolComponent: { guid: guid(1), index: -1 } } }, 'One'],
    ];
    const results = references.map(([members]) => ({ ...members, message: text('m') }));
    const findings = await foundIn({ results, tool });
    expect(findings.map(({ title }) => title)).toEqual(references.map(([, title]) => title));
    expect(findings[3]?.rule).toBe('one');
  });

  it('a message of the rule, else of its component', async () => {
    const plugged = { rule: { index: 0, toolComponent: { index: 1 } } };
    const cases: [object, string, string][] = [
      [{ ruleId: 'one' }, 'm', 'Of x'],
      [{ ruleId: 'two' }, 'm', 'Global x'],
      [{ ruleId: 'none' }, 'a.b', 'Global yx'],
      [plugged, 'm', 'Plug x'],
      [plugged, 'a.b', 'Global yx'],
    ];
    const results = cases.map(([members, id]) => ({ ...members, message: { id, arguments: ['x', 'y'] } }));
    const findings = await foundIn({ tool, results });
    expect(findings.map(({ description }) => description)).toEqual(cases.map(([, , expected]) => expected));
  });

  it('taxa, as their rules do', async () => {
    const taxonomies = [
      { name: 'OWASP', taxa: [{ id: '7' }] },
      { guid: guid(5), name: 'CWE', taxa: [{ id: '79' }, { guid: guid(6), id: '89' }, { id: 'CWE-22' }] },
    ];
    const ruled = { id: 'ruled', relationships: [{ target: { index: 0, toolComponent: { index: 1 } } }] };
    const taxa = [
      [
        { index: 1, toolComponent: { index: 1 } },
        { index: 0, toolComponent: { index: 0 } },
      ],
      [{ guid: guid(6) }],
      [{ index: 2, toolComponent: { guid: guid(5) } }],
      [{ id: '352', toolComponent: { name: 'CWE' } }],
      [{ id: '352', toolComponent: { index: 1 } }],
      [{ index: 1, toolComponent: { name: 'CWE' } }],
    ];
    const results = [
      { ruleId: 'ruled', message: text('m') },
      ...taxa.map((list) => ({ ruleId: 'x', message: text('m'), taxa: list })),
    ];
    const findings = await foundIn({
      tool: { driver: { name: 'Probe', rules: [ruled] } },
      results,
      taxonomies,
    });
    expect(findings.map(({ cweIds }) => cweIds?.join())).toEqual([
      'CWE-79',
      'CWE-89',
      'CWE-89',
      'CWE-22',
      'CWE-352',
      'CWE-352',
      'CWE-89',
    ]);
  });

  it('logical locations, artifacts in artifacts, and what was analysed', async () => {
    const logical = (location: object) => [{ logicalLocations: [location] }];
    const file = (artifactLocation: object) => [{ physicalLocation: { artifactLocation } }];
    const places: [object, string][] = [
      [{ locations: logical({ index: 0 }) }, 'N.C.m'],
      [{ locations: logical({ name: 'm', index: 2 }) }, 'D.m'],
      [{ locations: logical({ fullyQualifiedName: 'E.m', index: 2 }) }, 'E.m'],
      [{ locations: logical({ name: 'm' }) }, 'm'],
      [{ locations: file({ index: 1 }) }, 'app.zip/in/x.c'],
      [{ locations: file({ uri: 'in/x.c', index: 2 }) }, 'app.zip/lib.jar/in/x.c'],
      [{ analysisTarget: { uri: 'y.c' } }, 'y.c'],
      [{ analysisTarget: { index: 0 }, locations: [] }, 'app.zip'],
    ];
    const findings = await foundIn({
      tool,
      results: places.map(([members]) => ({ ruleId: 'two', message: text('m'), ...members })),
      logicalLocations: [
        { name: 'm', fullyQualifiedName: 'N.C.m', parentIndex: 1 },
        { name: 'D' },
        { name: 'm', parentIndex: 1 },
      ],
      artifacts: [
        { location: { uri: 'app.zip' } },
        { location: { uri: '/in/x.c' }, parentIndex: 0 },
        { location: { uri: 'in/x.c' }, parentIndex: 3 },
        { location: { uri: 'lib.jar' }, parentIndex: 0 },
      ],
    });
    expect(findings.map(({ locations }) => locations?.map(({ value }) => value).join())).toEqual(
      places.map(([, value]) => value),
    );
    expect(new Set(findings.map(identity)).size).toBe(places.length);
  });
});

it('Results of SARIF have messages without escapes, and links to the web', async () => {
  const texts: [message: object, title: string, description?: string][] = [
    [{ text: "Use '{{0}}' here" }, "Use '{0}' here"],
    [{ text: 'Found {{ name }} {0}' }, 'Found {{ name }} {0}'],
    [{ text: '{{{0}}} of {1}{2}', arguments: ['a', 'b {0}'] }, '{a} of b {0}{2}'],
    [{ text: '[para\\[0\\]\\\\spans](1) of \\[no link](2)' }, 'para[0]\\spans of [no link](2)'],
    [{ text: 'a[0](x) and [b](sarif:/runs/0)' }, 'a[0](x) and b'],
    [
      { text: 'See [the_guide](https://docs.example/{0}_(b)).', arguments: ['a'] },
      'See the_guide.',
      'See [the_guide](https://docs.example/a_%28b%29).',
    ],
    [{ text: 'See [it](javascript:alert) now' }, 'See it now'],
  ];
  const results = texts.map(([message]) => ({ message, ruleId: 'x' }));
  const findings = await findingsOf(sarif, report({ tool: { driver: { name: 'Probe' } }, results }));
  expect(findings.map(({ title }) => title)).toEqual(texts.map(([, title]) => title));
  expect(findings.map(({ description }) => description)).toEqual(
    texts.map(([, title, description]) => description ?? textToMarkdown(title)),
  );
});
