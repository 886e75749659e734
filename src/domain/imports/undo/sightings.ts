import { type SqlBool, sql } from 'kysely';
import type { Transaction } from '../../../db/engine.ts';
import { itemInteger, jsonRowsTable } from '../../../db/dialect-sql.ts';
import { findNewerCoverage, type CoveringReport } from '../coverage.ts';
import type { ImportToUndo } from './findings.ts';
import { loadPortSets } from '../port-sets.ts';

/** A finding's last sighting and its coverage key. */
export interface SeenFinding {
  /** Id of the vulnerability. */
  id: number;
  source: string;
  cover_key: string | null;
  cover_host: string | null;
  cover_ports: string;
  last_seen_at: number;
}

/** @returns by finding, the newest other report that covered it since it was last seen and did not contain it */
export async function coverageByOthers(
  tx: Transaction,
  { id, organizationId, assessmentId }: ImportToUndo,
  rows: readonly SeenFinding[],
): Promise<ReadonlyMap<number, CoveringReport>> {
  if (assessmentId === null || rows.length === 0) return new Map();
  const texts = await loadPortSets(
    tx,
    organizationId,
    rows.map((row) => row.cover_ports),
  );
  return findNewerCoverage(
    tx,
    { organizationId, assessment: { id: assessmentId } },
    id,
    rows.map((row) => ({
      id: row.id,
      source: row.source,
      coverage:
        row.cover_key === null
          ? null
          : {
              key: row.cover_key,
              host: row.cover_host,
              ports: texts.get(row.cover_ports) ?? row.cover_ports,
            },
      seenAt: row.last_seen_at,
    })),
  );
}

/**
 * Restores when remaining findings were last seen. They stay gone only if another report covered them without
 * containing them.
 * @param to handles the ids after `after`, up to and including this one
 */
export async function undoSightings(
  tx: Transaction,
  target: ImportToUndo,
  after: number,
  to: number,
): Promise<void> {
  const { id, assessmentId } = target;
  const some = sql<SqlBool>`assessment_id = ${assessmentId} and vulnerability_id > ${after} and vulnerability_id <= ${to}`;
  await tx
    .updateTable('scanner_findings')
    .set({ previous_seen_at: null, previous_import_id: null })
    .where(some)
    .where('previous_import_id', '=', id)
    .execute();
  await tx
    .updateTable('scanner_findings')
    .set((eb) => ({
      last_seen_at: eb.fn.coalesce('previous_seen_at', 'last_seen_at'),
      last_import_id: eb.fn.coalesce('previous_import_id', 'last_import_id'),
      previous_seen_at: null,
      previous_import_id: null,
    }))
    .where(some)
    .where('last_import_id', '=', id)
    .where('previous_import_id', 'is not', null)
    .execute();
  const noLongerGone = await tx
    .updateTable('scanner_findings')
    .set({ gone_at: null, gone_import_id: null })
    .where(some)
    .where('gone_import_id', '=', id)
    .returning(['vulnerability_id as id', 'source', 'cover_key', 'cover_host', 'cover_ports', 'last_seen_at'])
    .execute();
  const coverage = await coverageByOthers(tx, target, noLongerGone);
  if (coverage.size === 0) return;
  const rows = [...coverage].map(([finding, { coveredAt, importId }]) => [finding, coveredAt, importId]);
  await sql`update scanner_findings set gone_at = ${itemInteger(1)}, gone_import_id = ${itemInteger(2)}
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
}
