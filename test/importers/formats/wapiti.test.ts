import { describe, expect, it } from 'vitest';
import { wapiti } from '../../../src/importers/formats/wapiti/wapiti.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// Made by scripts/fixtures/wapiti.ts.
describeFormat(wapiti, { readsTwice: true });

const report = (payload: string, infos: object = {}, members: object = {}) =>
  JSON.stringify({
    vulnerabilities: {
      'Cross Site Scripting': [
        {
          method: 'GET',
          path: `/search?q=${payload}`,
          info: `XSS with ${payload}`,
          level: 2,
          parameter: 'q',
          curl_command: `curl "https://shop.example/search?q=${payload}"`,
          ...members,
        },
      ],
      'SQL Injection': [],
    },
    anomalies: {},
    infos: {
      target: 'https://shop.example/',
      date: 'Fri, 20 Nov 2026 10:00:00 +0000',
      scope: 'folder',
      ...infos,
    },
    classifications: {
      'Cross Site Scripting': { desc: 'Scripts.', ref: { 'CWE-79: Scripts': 'https://cwe.example/79' } },
    },
  });

describe('Findings of Wapiti', () => {
  it('are the same with another payload, also at the place where they are', async () => {
    const [[one], [other]] = [
      await findingsOf(wapiti, report('wabc123')),
      await findingsOf(wapiti, report('wxyz789')),
    ];
    if (one === undefined || other === undefined) throw new Error('A report has lost its finding.');
    expect(identityOf(other, 'wapiti')).toBe(identityOf(one, 'wapiti'));
    expect(other.locations).toEqual([{ type: 'url', value: 'https://shop.example/search?q' }]);
    expect(one.cweIds).toEqual(['CWE-79']);
  });

  it('are of the site that was scanned where they name none', async () => {
    const [found] = await findingsOf(wapiti, report('w', {}, { curl_command: '' }));
    expect(found?.target).toEqual({ url: 'https://shop.example/search' });
    const { records } = await readRecords(wapiti, report('w', { target: undefined }, { curl_command: '' }));
    expect(records).toContainEqual(expect.objectContaining({ kind: 'skipped', reason: 'no address' }));
  });

  it('cover a site that was scanned whole', async () => {
    const covered = async (infos: object) =>
      (await readRecords(wapiti, report('w', infos))).records.filter(({ kind }) => kind === 'covered');
    expect(await covered({})).toHaveLength(1);
    expect(await covered({ scope: 'domain', target: 'https://shop.example/a/' })).toHaveLength(1);
    expect(await covered({ target: 'https://shop.example/a/' })).toEqual([]);
    expect(await covered({ scope: 'page' })).toEqual([]);
  });
});
