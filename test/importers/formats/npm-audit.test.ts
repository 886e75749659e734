import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { npmAudit } from '../../../src/importers/formats/npm-audit/npm-audit.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow npm 6, npm 7 and later, and public examples of both.
describeFormat(npmAudit);

describe('Findings of npm audit', () => {
  it('are the same in reports of npm 6 and later', async () => {
    const findingsIn = async (file: string) =>
      (
        await findingsOf(npmAudit, readFileSync(new URL(`../../fixtures/npm-audit/${file}`, import.meta.url)))
      ).find(({ rule }) => rule === 'GHSA-xvch-5gv4-984h');
    const [six, seven] = [await findingsIn('npm-6.json'), await findingsIn('npm-7.json')];
    if (six === undefined || seven === undefined) throw new Error('A fixture has lost its finding.');
    expect(identityOf(seven, 'npm-audit')).toBe(identityOf(six, 'npm-audit'));
  });

  it('are not read from a failed audit', async () => {
    const failed = { error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.' } };
    const { records, error } = await readRecords(npmAudit, JSON.stringify(failed));
    expect(records).toEqual([]);
    expect(error?.message).toBe('The audit failed: This command requires an existing lockfile.');
  });

  it('are none in a clean report', async () => {
    const clean = { auditReportVersion: 2, vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 } } };
    expect(await readRecords(npmAudit, JSON.stringify(clean))).toEqual({ records: [] });
  });
});
