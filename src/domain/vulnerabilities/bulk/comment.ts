import { sql } from 'kysely';
import type { Caller, ChangeContext } from '../../../auth/callers.ts';
import { chunked } from '../../../db/chunks.ts';
import type { Transaction } from '../../../db/database.ts';
import { inList } from '../../../db/dialect-sql.ts';
import { recordEvents } from '../../audit/record-event.ts';
import { commentTarget } from '../comments.ts';
import { EVENT_CHUNK_ROWS, type LockedVulnerability } from '../lock-vulnerability.ts';
import { recordTimelineEntries } from '../timeline.ts';

/** Adds the same comment to locked vulnerabilities, as operation 25 does to one. On drafts it is internal. */
export async function bulkComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  locked: readonly LockedVulnerability[],
  text: string,
): Promise<void> {
  for (const internal of [false, true])
    await commentEach(
      tx,
      by,
      locked.filter(({ draft }) => (draft === 1) === internal),
      { text, internal },
    );
}

async function commentEach(
  tx: Transaction,
  by: ChangeContext<Caller>,
  locked: readonly LockedVulnerability[],
  { text, internal }: { text: string; internal: boolean },
): Promise<void> {
  const { actor, now } = by;
  for (const chunk of chunked(locked, EVENT_CHUNK_ROWS)) {
    const ids = chunk.map(({ id }) => id);
    const { rows } = await sql<{ id: number; vulnerability_id: number; organization_id: number }>`
      insert into comments (organization_id, vulnerability_id, user_id, by_staff, text, internal, created_at, updated_at)
      select organization_id, id, cast(${actor.userId} as bigint), ${sql.lit(actor.staff ? 1 : 0)}, ${text}, ${sql.lit(internal ? 1 : 0)}, cast(${now} as bigint), cast(${now} as bigint)
        from vulnerabilities where ${inList(tx, sql.ref<number>('id'), ids)} order by id
      returning id, vulnerability_id, organization_id`.execute(tx);
    if (!internal)
      await tx
        .updateTable('vulnerabilities')
        .set({ updated_at: now })
        .where(({ ref }) => inList(tx, ref('id'), ids))
        .where('updated_at', '<>', now)
        .execute();
    await recordTimelineEntries(
      tx,
      by,
      rows.map((row) => ({
        organizationId: row.organization_id,
        vulnerabilityId: row.vulnerability_id,
        kind: 'comment',
        commentId: row.id,
        internal,
      })),
    );
    await recordEvents(
      tx,
      rows.map((row) => ({
        by,
        change: {
          ...commentTarget('create', internal, row.id),
          organizationId: row.organization_id,
          before: null,
          after: { vulnerability: row.vulnerability_id, text, internal },
        },
      })),
    );
  }
}
