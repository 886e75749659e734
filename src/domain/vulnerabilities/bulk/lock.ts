import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../../auth/callers.ts';
import { piecesOf } from '../../../db/bulk-insert.ts';
import type { Reader, Transaction } from '../../../db/engine.ts';
import { holdingRows, isOneOf } from '../../../db/dialect-sql.ts';
import { grouped } from '../../shared/group-by.ts';
import { listingWithin, reachOfAccount, reachParameters } from '../../shared/visibility.ts';

/** What of a vulnerability is changed together with that of others. */
export interface State {
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
export interface Held {
  id: number;
  organizationId: number;
  assessmentId: number;
  version: number;
  state: State;
}

/** One of many, and what becomes of it. */
export interface StateChange {
  held: Held;
  after: State;
}

/** So many at once: what is written of them holds the event loop some milliseconds, and others are answered between. */
const AT_ONCE = 100;
/** Where less is done with each. */
export const MORE_AT_ONCE = 500;

/** @returns the list in pieces, with a turn of the event loop behind each */
export async function* inPieces<T>(list: readonly T[], size = AT_ONCE): AsyncGenerator<readonly T[]> {
  for (const some of piecesOf(list, size)) {
    yield some;
    await nextTurn();
  }
}

/**
 * Finds vulnerabilities that the caller reaches, and keeps others from changing them until the unit of work ends.
 * @param ids ascending, so that two who change many of the same wait for each other and do not lock each other out
 */
export async function holdVulnerabilities(
  tx: Transaction,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, Held>> {
  const found = new Map<number, Held>();
  for await (const some of inPieces(ids, MORE_AT_ONCE)) {
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
      .where(({ ref }) => isOneOf(tx, ref('id'), some))
      .where(
        sql<SqlBool>`exists (select 1 from assessments where assessments.id = vulnerabilities.assessment_id
          and ${listingWithin(reachOfAccount(caller), reachParameters(caller))})`,
      )
      .orderBy('id')
      .modifyEnd(holdingRows(tx))
      .execute();
    const tags = await linksOf(tx, 'vulnerability_taggings', 'tag_id', some);
    for (const row of rows) {
      found.set(row.id, {
        id: row.id,
        organizationId: row.organization_id,
        assessmentId: row.assessment_id,
        version: row.version,
        state: {
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
export async function linksOf(
  db: Reader,
  table: 'vulnerability_taggings' | 'vulnerability_assets',
  column: 'tag_id' | 'asset_id',
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ vulnerability_id: number; link: number }>`
    select vulnerability_id, ${sql.ref(column)} as link from ${sql.table(table)}
    where ${isOneOf(db, sql.ref<number>('vulnerability_id'), ids)} order by vulnerability_id, link`.execute(
    db,
  );
  return grouped(
    rows,
    (row) => row.vulnerability_id,
    ({ link }) => link,
  );
}

/** @returns whether a change changes anything */
export function differs({ held: { state }, after }: StateChange): boolean {
  return (
    state.statusId !== after.statusId ||
    state.severity !== after.severity ||
    state.assigneeId !== after.assigneeId ||
    state.dueOn !== after.dueOn ||
    String(state.tags) !== String(after.tags)
  );
}
