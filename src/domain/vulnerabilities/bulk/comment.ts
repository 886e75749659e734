import { sql } from 'kysely';
import type { Act } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { isOneOf } from '../../../db/dialect-sql.ts';
import { recordChanges } from '../../audit/record-event.ts';
import { type Held, inPieces } from './lock.ts';
import { recordTimelines } from '../timeline.ts';

/** Puts the same comment on many vulnerabilities that are held, as operation 25 puts it on one. */
export async function commentOnMany(
  tx: Transaction,
  act: Act,
  held: readonly Held[],
  text: string,
): Promise<void> {
  const { actor, now } = act;
  for await (const some of inPieces(held)) {
    const ids = some.map(({ id }) => id);
    const { rows } = await sql<{ id: number; vulnerability_id: number; organization_id: number }>`
      insert into comments (organization_id, vulnerability_id, user_id, text, internal, created_at, updated_at)
      select organization_id, id, cast(${actor.userId} as bigint), ${text}, 0, cast(${now} as bigint), cast(${now} as bigint)
        from vulnerabilities where ${isOneOf(tx, sql.ref<number>('id'), ids)} order by id
      returning id, vulnerability_id, organization_id`.execute(tx);
    await tx
      .updateTable('vulnerabilities')
      .set({ updated_at: now })
      .where(({ ref }) => isOneOf(tx, ref('id'), ids))
      .where('updated_at', '<>', now)
      .execute();
    await recordTimelines(
      tx,
      act,
      rows.map((row) => ({
        organizationId: row.organization_id,
        vulnerabilityId: row.vulnerability_id,
        kind: 'comment',
        commentId: row.id,
      })),
    );
    await recordChanges(
      tx,
      rows.map((row) => ({
        act,
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
