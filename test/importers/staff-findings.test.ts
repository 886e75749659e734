import { expect, it } from 'vitest';
import { type Caller, operatorCaller } from '../../src/auth/callers.ts';
import { seededRandom } from '../../src/demo/random.ts';
import { importDirectly, type ImportPlace, undoDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { nucleiReport } from '../harness/nuclei.ts';
import { useSharedServer } from '../harness/server.ts';

/**
 * What staff's scans found shows what staff's reports say (docs/roles.md). It is compared with the same findings in
 * another assessment, into which only staff import.
 */

const server = await useSharedServer();
const { db } = server.context;

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const FINDINGS = 4;
const STEPS = 20;
const SEVERITIES = ['low', 'medium', 'high'];

interface Reported {
  rule: number;
  text: number;
}

/** A report of these findings, scanned at a time. */
const reportOf = (findings: readonly Reported[], at: number) =>
  nucleiReport(
    findings.map(({ rule, text }) => ({
      rule: `rule-${rule}`,
      name: `Text ${text}`,
      severity: SEVERITIES[text % 3] as string,
      at,
    })),
  );

it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
  'Imports of others leave what staff reported, in any order and with undos (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    const place = async (): Promise<ImportPlace & { assessment: { id: number; uid: string } }> => ({
      organizationId: organization.id,
      assessment: await fixtures.assessment(organization.uid),
    });
    const [shared, ofStaff] = [await place(), await place()];
    const admin: Caller = {
      ...operatorCaller('an admin'),
      kind: 'user',
      staff: false,
      organizationId: organization.id,
    };
    const contentsOf = async ({ assessment }: typeof shared) =>
      db.read
        .selectFrom('vulnerabilities')
        .innerJoin('scanner_findings', 'scanner_findings.vulnerability_id', 'vulnerabilities.id')
        .select(['identity_hash', 'title', 'severity', 'description', 'http_requests', 'reported_by_staff'])
        .where('vulnerabilities.assessment_id', '=', assessment.id)
        .orderBy('identity_hash')
        .execute();

    const all = Array.from({ length: FINDINGS }, (_, rule) => ({ rule, text: 0 }));
    for (const target of [shared, ofStaff])
      await importDirectly(db, target, { format: 'nuclei', report: reportOf(all, START), at: START });
    const undoable: { id: number; isStaffs: boolean; twin?: number }[] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      const at = START + 100 * DAY + step;
      const isStaffs = random.happens(35);
      const index = random.between(0, 2 * undoable.length);
      const undone = undoable[index];
      if (undone === undefined) {
        const findings = all
          .filter(() => random.happens(60))
          .map(({ rule }) => ({ rule, text: random.between(1, 6) }));
        const options = random.happens(30) ? { minimumSeverity: 'High' as const } : {};
        const report = reportOf(findings, START + random.between(-20, 40) * DAY);
        const upload = { format: 'nuclei', report, at, options };
        const { id } = await importDirectly(db, shared, upload, ...(isStaffs ? [] : [admin]));
        const twin = isStaffs ? { twin: (await importDirectly(db, ofStaff, upload)).id } : {};
        undoable.push({ id, isStaffs, ...twin });
      } else {
        undoable.splice(index, 1);
        await undoDirectly(db, { id: undone.id, at }, ...(undone.isStaffs ? [] : [admin]));
        if (undone.twin !== undefined) await undoDirectly(db, { id: undone.twin, at });
      }
      const contents = await contentsOf(shared);
      expect(contents).toEqual(await contentsOf(ofStaff));
      expect(contents.every(({ reported_by_staff }) => reported_by_staff === 1)).toBe(true);
      expect(contents).toHaveLength(FINDINGS);
    }
  },
);
