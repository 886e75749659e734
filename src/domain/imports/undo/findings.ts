import { type SqlBool, sql } from 'kysely';
import type { ReadConnection, Transaction } from '../../../db/engine.ts';
import { forUpdate, inList, forNoKeyUpdate } from '../../../db/dialect-sql.ts';
import { insertDeltas, DeltaAccumulator } from '../../shared/counters.ts';
import { counterDeltas } from '../../vulnerabilities/vulnerability-counters.ts';
import { linkedIds } from '../../vulnerabilities/vulnerability-links.ts';
import { lockRows } from '../../shared/lock-rows.ts';

export interface ImportToUndo {
  id: number;
  organizationId: number;
  assessmentId: number | null;
  /** Time of the upload, in milliseconds since 1970. */
  createdAt: number;
}

/** The result of one undo transaction; `last` is the id to continue after, `null` at the end. */
export interface UndoStep {
  last: number | null;
  done: number;
  kept: number;
}

export async function findImportToUndo(db: ReadConnection, id: number): Promise<ImportToUndo | undefined> {
  const row = await db
    .selectFrom('imports')
    .select(['organization_id', 'assessment_id', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  return (
    row && {
      id,
      organizationId: row.organization_id,
      assessmentId: row.assessment_id,
      createdAt: row.created_at,
    }
  );
}

export const undoStep = (
  rows: readonly unknown[],
  limit: number,
  last: number | undefined,
  done: number,
): UndoStep => ({
  last: rows.length < limit ? null : (last ?? null),
  done,
  kept: rows.length - done,
});

/** Deletes the findings that the import created, unless a person has changed them or another import has seen them. */
export async function undoFindings(
  tx: Transaction,
  { id, organizationId }: ImportToUndo,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('vulnerabilities')
    .select(['id', 'assessment_id', 'severity', 'status_id'])
    .where('import_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .modifyEnd(forUpdate(tx))
    .execute();
  const ids = rows.map((row) => row.id);
  const untouched = await tx
    .selectFrom('scanner_findings')
    .select('vulnerability_id')
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .where('last_import_id', '=', id)
    .where(
      sql<SqlBool>`not exists (select 1 from timeline_entries as entry
        where entry.vulnerability_id = scanner_findings.vulnerability_id and entry.kind not in ('seen', 'gone')
          and not (entry.kind = 'status' and entry.import_id is not null))`,
    )
    .execute();
  const isUntouched = new Set(untouched.map((row) => row.vulnerability_id));
  const deletable = rows.filter((row) => isUntouched.has(row.id));
  if (deletable.length > 0) {
    const deletableIds = deletable.map((row) => row.id);
    const [assets, tags] = [
      await linkedIds(tx, 'assets', deletableIds),
      await linkedIds(tx, 'tags', deletableIds),
    ];
    const sums = new DeltaAccumulator();
    for (const row of deletable)
      sums.add(
        counterDeltas(
          {
            organizationId,
            assessmentId: row.assessment_id,
            statusId: row.status_id,
            severity: row.severity,
            tags: tags.get(row.id) ?? [],
            assets: assets.get(row.id) ?? [],
          },
          null,
        ),
      );
    await lockRows(tx, 'assets', [...assets.values()].flat(), forNoKeyUpdate);
    await tx
      .deleteFrom('vulnerabilities')
      .where((eb) => inList(tx, eb.ref('id'), deletableIds))
      .execute();
    await insertDeltas(tx, sums.rows());
  }
  return undoStep(rows, limit, ids.at(-1), deletable.length);
}

/** @returns the highest vulnerability id of a scanner finding */
export async function lastFindingId(db: ReadConnection): Promise<number> {
  const row = await db
    .selectFrom('scanner_findings')
    .select(({ fn }) => fn.max('vulnerability_id').as('last'))
    .executeTakeFirst();
  return row?.last ?? 0;
}
