import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../../auth/callers.ts';
import { chunked } from '../../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../../db/engine.ts';
import { forNoKeyUpdate, inList } from '../../../db/dialect-sql.ts';
import { groupBy } from '../../shared/group-by.ts';
import { assessmentIsVisible, visibilityOf, visibilityParameters } from '../../shared/visibility.ts';

/** What of a vulnerability is changed together with that of others. */
export interface MutableFields {
  statusId: number;
  statusSetAt: number;
  closedAt: number | null;
  severity: string;
  assigneeId: number | null;
  /** A day: `2026-11-22`. */
  dueOn: string | null;
  /** Ids, ascending. */
  tags: readonly number[];
}

/** One of many, as it is before they are changed. */
export interface LockedVulnerability {
  id: number;
  organizationId: number;
  assessmentId: number;
  version: number;
  fields: MutableFields;
}

/** One of many, and what becomes of it. */
export interface FieldChange {
  locked: LockedVulnerability;
  after: MutableFields;
}

/** So many at once: what is written of them holds the event loop some milliseconds, and others are answered between. */
const CHUNK_SIZE = 100;
/** Where less is done with each. */
export const LARGE_CHUNK_SIZE = 500;

/** @returns the list in pieces, with a turn of the event loop behind each */
export async function* yieldingChunks<T>(
  list: readonly T[],
  size = CHUNK_SIZE,
): AsyncGenerator<readonly T[]> {
  for (const some of chunked(list, size)) {
    yield some;
    await nextTurn();
  }
}

/**
 * Finds vulnerabilities that the caller reaches, and keeps others from changing them until the unit of work ends.
 * @param ids ascending, so that two who change many of the same wait for each other and do not lock each other out
 */
export async function lockVulnerabilities(
  tx: Transaction,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, LockedVulnerability>> {
  const found = new Map<number, LockedVulnerability>();
  for await (const some of yieldingChunks(ids, LARGE_CHUNK_SIZE)) {
    const rows = await tx
      .selectFrom('vulnerabilities')
      .select([
        'id',
        'organization_id',
        'assessment_id',
        'version',
        'status_id',
        'status_set_at',
        'closed_at',
        'severity',
        'assignee_id',
        'due_on',
      ])
      .where(({ ref }) => inList(tx, ref('id'), some))
      .where(
        sql<SqlBool>`exists (select 1 from assessments where assessments.id = vulnerabilities.assessment_id
          and ${assessmentIsVisible(visibilityOf(caller), visibilityParameters(caller))})`,
      )
      .orderBy('id')
      .modifyEnd(forNoKeyUpdate(tx))
      .execute();
    const tags = await linkedIds(tx, 'vulnerability_taggings', 'tag_id', some);
    for (const row of rows) {
      found.set(row.id, {
        id: row.id,
        organizationId: row.organization_id,
        assessmentId: row.assessment_id,
        version: row.version,
        fields: {
          statusId: row.status_id,
          statusSetAt: row.status_set_at,
          closedAt: row.closed_at,
          severity: row.severity,
          assigneeId: row.assignee_id,
          dueOn: row.due_on,
          tags: tags.get(row.id) ?? [],
        },
      });
    }
  }
  return found;
}

/** @returns by vulnerability, the ids of what is linked with it, ascending */
export async function linkedIds(
  db: ReadConnection,
  table: 'vulnerability_taggings' | 'vulnerability_assets',
  column: 'tag_id' | 'asset_id',
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ vulnerability_id: number; link: number }>`
    select vulnerability_id, ${sql.ref(column)} as link from ${sql.table(table)}
    where ${inList(db, sql.ref<number>('vulnerability_id'), ids)} order by vulnerability_id, link`.execute(
    db,
  );
  return groupBy(
    rows,
    (row) => row.vulnerability_id,
    ({ link }) => link,
  );
}

/** @returns whether a change changes anything */
export function hasChanges({ locked: { fields }, after }: FieldChange): boolean {
  return (
    fields.statusId !== after.statusId ||
    fields.severity !== after.severity ||
    fields.assigneeId !== after.assigneeId ||
    fields.dueOn !== after.dueOn ||
    String(fields.tags) !== String(after.tags)
  );
}
