import type { Act } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk.ts';
import type { Transaction } from '../../db/engine.ts';
import { prepareUnread } from '../../db/prepared.ts';

export interface Change {
  /** What was done to which kind of thing: `vulnerability.update`. */
  action: string;
  /** The kind of thing and its id or uid. */
  object: readonly [type: string, id: string | number];
  organizationId: number | null;
  /** What the change replaced; `null` where there was nothing. */
  before: unknown;
  /** What stands there now; `null` where nothing does. */
  after: unknown;
}

const insertEvent = prepareUnread<{
  at: number;
  action: string;
  type: string;
  object: string;
  organization: number | null;
  user: number | null;
  credential: string | null;
  address: string | null;
  request: string;
  before: string | null;
  after: string | null;
}>((tx, p) =>
  tx.insertInto('audit_events').values({
    at: p.at,
    action: p.action,
    object_type: p.type,
    object_id: p.object,
    organization_id: p.organization,
    user_id: p.user,
    credential_id: p.credential,
    address: p.address,
    request_id: p.request,
    before: p.before,
    after: p.after,
  }),
);

/** Writes a change to the audit log, in the transaction that makes it. Neither side may hold a secret. */
export async function recordChange(tx: Transaction, { actor, now }: Act, change: Change): Promise<void> {
  await insertEvent(tx, {
    at: now,
    action: change.action,
    type: change.object[0],
    object: String(change.object[1]),
    organization: change.organizationId,
    user: actor.userId,
    credential: actor.credentialId,
    address: actor.address,
    request: actor.requestId,
    before: change.before === null ? null : JSON.stringify(change.before),
    after: change.after === null ? null : JSON.stringify(change.after),
  });
}

const insertEvents = prepareInsert('audit_events', {
  at: 'int',
  action: 'text',
  object_type: 'text',
  object_id: 'text',
  organization_id: 'int',
  user_id: 'int',
  credential_id: 'text',
  address: 'text',
  request_id: 'text',
  before: 'text',
  after: 'text',
});

/** A change and who made it. */
export interface ChangeBy {
  act: Act;
  change: Change;
}

/** The same for many changes of one unit of work. */
export async function recordChanges(tx: Transaction, changes: readonly ChangeBy[]): Promise<void> {
  const rows = changes.map(
    ({ act: { actor, now }, change: { action, object, organizationId, before, after } }) =>
      [
        now,
        action,
        object[0],
        String(object[1]),
        organizationId,
        actor.userId,
        actor.credentialId,
        actor.address,
        actor.requestId,
        before === null ? null : JSON.stringify(before),
        after === null ? null : JSON.stringify(after),
      ] as const,
  );
  await insertEvents(tx, rows);
}
