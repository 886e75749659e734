import { sql } from 'kysely';
import type { Caller, ChangeContext } from '../../../auth/callers.ts';
import { chunked } from '../../../db/chunks.ts';
import type { Transaction } from '../../../db/database.ts';
import { inList } from '../../../db/dialect-sql.ts';
import { recordEvents } from '../../audit/record-event.ts';
import { EVENT_CHUNK_ROWS, type LockedVulnerability } from '../lock-vulnerability.ts';
import { recordTimelineEntries } from '../timeline.ts';

/** Adds the same comment to locked vulnerabilities, as operation 25 does to one. */
export async function bulkComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  locked: readonly LockedVulnerability[],
  text: string,
): Promise<void> {
  const { actor, now } = by;
  for (const chunk of chunked(locked, EVENT_CHUNK_ROWS)) {
    const ids = chunk.map(({ id }) => id);
    const { rows } = await sql<{ id: number; vulnerability_id: number; organization_id: number }>`
      insert into comments (organization_id, vulnerability_id, user_id, by_staff, text, internal, created_at, updated_at)
      select organization_id, id, cast(${actor.userId} as bigint), ${sql.lit(actor.staff ? 1 : 0)}, ${text}, 0, cast(${now} as bigint), cast(${now} as bigint)
        from vulnerabilities where ${inList(tx, sql.ref<number>('id'), ids)} order by id
      returning id, vulnerability_id, organization_id`.execute(tx);
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
      })),
    );
    await recordEvents(
      tx,
      rows.map((row) => ({
        by,
        change: {
          action: 'comment.create' as const,
          object: ['comment', row.id] as const,
          organizationId: row.organization_id,
          before: null,
          after: { vulnerability: row.vulnerability_id, text, internal: false },
        },
      })),
    );
  }
}
