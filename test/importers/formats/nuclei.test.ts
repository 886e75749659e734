import { describe, expect, it } from 'vitest';
import { nuclei } from '../../../src/importers/formats/nuclei/nuclei.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the type ResultEvent of Nuclei and public examples of versions 2.3 to 3.4.
describeFormat(nuclei);

const result = (members: Record<string, unknown>) => ({
  'template-id': 'waf-detect',
  info: { name: 'WAF', severity: 'info' },
  'matched-at': 'https://shop.example/',
  timestamp: '2026-11-20T10:00:00Z',
  ...members,
});
const identitiesOf = async (...results: object[]) =>
  (await findingsOf(nuclei, JSON.stringify(results))).map((finding) => identityOf(finding, 'nuclei'));

describe('Results of Nuclei', () => {
  it('are one finding per template, matcher and site, or host and port', async () => {
    const [one, other, matcher, port, site] = await identitiesOf(
      result({}),
      result({
        'matched-at': 'https://shop.example:443/basket?session=2',
        info: { name: 'W', severity: 'high' },
      }),
      result({ 'matcher-name': 'nginx' }),
      result({ 'matched-at': 'shop.example:443', ip: '192.0.2.1' }),
      result({ 'matched-at': 'https://shop.example:8443/' }),
    );
    expect(other).toBe(one);
    expect(new Set([one, matcher, port, site]).size).toBe(4);
  });

  it('have the time of the first, and cover nothing', async () => {
    const lines = ['2026-11-20T10:00:05Z', '2026-11-20T10:00:00Z', '2026-11-20T10:00:09Z']
      .map((timestamp) => JSON.stringify(result({ timestamp })))
      .join('\n');
    const { records } = await readRecords(nuclei, lines);
    const times = records.flatMap((record) => (record.kind === 'report' ? [record.scannedAt] : []));
    expect(times.at(-1)).toBe(Date.UTC(2026, 10, 20, 10));
    expect(records.filter(({ kind }) => kind === 'covered')).toEqual([]);
  });

  it('can be empty: an empty array, or no line', async () => {
    expect(await readRecords(nuclei, '[]')).toEqual({ records: [] });
    expect(await readRecords(nuclei, '')).toEqual({ records: [] });
    expect(nuclei.allowsEmpty).toBe(true);
  });
});
