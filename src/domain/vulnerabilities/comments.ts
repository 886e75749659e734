import type { Attribution, Caller } from '../../auth/callers.ts';
import { isAdminOf } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { type Filter, integerFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { lockVulnerability, touchVulnerability } from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

/** A comment on a vulnerability; times in milliseconds since 1970. */
export interface Comment {
  id: number;
  version: number;
  text: string;
  /** Whether it is told to staff alone. */
  internal: boolean;
  createdAt: number;
  updatedAt: number;
  user: UserRef | null;
}

interface CommentRow {
  id: number;
  organization_id: number;
  user_id: number | null;
  text: string;
  internal: number;
  created_at: number;
  updated_at: number;
  version: number;
}

const COLUMNS = [
  'id',
  'organization_id',
  'user_id',
  'text',
  'internal',
  'created_at',
  'updated_at',
  'version',
] as const;

/** Comments of the vulnerabilities that `vulnerabilityId` names, which is to be within reach (operation 24). */
export const commentList = defineList({
  name: 'comments',
  rows: ({ db, caller }) => {
    const rows = db.selectFrom('comments').select(COLUMNS.map((column) => `comments.${column}` as const));
    return caller.staff ? rows : rows.where('comments.internal', '=', 0);
  },
  id: 'comments.id',
  organization: 'comments.organization_id',
  filters: { vulnerabilityId: integerFilter('comments.vulnerability_id') as Filter<'integers'> },
  sorts: { createdAt: { column: 'comments.created_at', type: 'integer' } },
  async hydrate({ db }, rows): Promise<Comment[]> {
    const userOf = await loadUserRefs(
      db,
      rows.map((row) => row.user_id),
    );
    return rows.map((row) => toComment(row, userOf(row.user_id)));
  },
  batchSize: 50,
});

/**
 * Comments on a vulnerability.
 * @throws Failure `missing` for a vulnerability out of reach, `forbidden` for an internal comment of who is no staff
 */
export async function createComment(
  tx: Transaction,
  act: Attribution<Caller>,
  vulnerabilityId: number,
  { text, internal }: { text: string; internal: boolean },
): Promise<Comment> {
  const vulnerability = await lockVulnerability(tx, act.actor, vulnerabilityId);
  requireStaff(act.actor, internal);
  const organizationId = vulnerability.organization_id;
  return insertComment(tx, act, { organizationId, vulnerabilityId, text, internal });
}

/** The same on a vulnerability that is held, by somebody who may. An internal one leaves no time that others would see. */
export async function insertComment(
  tx: Transaction,
  act: Attribution,
  {
    organizationId,
    vulnerabilityId,
    text,
    internal,
  }: { organizationId: number; vulnerabilityId: number; text: string; internal: boolean },
): Promise<Comment> {
  const row = await tx
    .insertInto('comments')
    .values({
      organization_id: organizationId,
      vulnerability_id: vulnerabilityId,
      user_id: act.actor.userId,
      text,
      internal: internal ? 1 : 0,
      created_at: act.now,
      updated_at: act.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  if (!internal) await touchVulnerability(tx, { id: vulnerabilityId, now: act.now });
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId,
    kind: 'comment',
    commentId: row.id,
    internal,
  });
  await recordEvent(tx, act, {
    ...auditTarget('create', internal, row.id),
    organizationId,
    before: null,
    after: { vulnerability: vulnerabilityId, text, internal },
  });
  const userOf = await loadUserRefs(tx, [row.user_id]);
  return toComment(row, userOf(row.user_id));
}

/**
 * Changes a comment of one's own; what is absent stays.
 * @throws Failure `missing` for what the caller does not see, `forbidden` for another's comment and for an internal one of
 *   who is no staff, `changed` for another version than is expected
 */
export async function updateComment(
  tx: Transaction,
  act: Attribution<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  change: { text?: string | undefined; internal?: boolean | undefined },
  expected?: ExpectedVersion,
): Promise<Comment> {
  const { actor: caller, now } = act;
  const row = await lockComment(tx, caller, vulnerabilityId, id);
  if (row.user_id === null || row.user_id !== caller.userId)
    throw new DomainError('forbidden', { code: 'comment-author-only' });
  const text = change.text ?? row.text;
  const internal = change.internal ?? row.internal === 1;
  requireStaff(caller, internal);
  requireVersion(expected, row.version);
  const userOf = await loadUserRefs(tx, [row.user_id]);
  const textDiffers = text !== row.text;
  const internalDiffers = internal !== (row.internal === 1);
  if (!textDiffers && !internalDiffers) return toComment(row, userOf(row.user_id));
  const after = { text, internal: internal ? 1 : 0, updated_at: now, version: row.version + 1 };
  await tx.updateTable('comments').set(after).where('id', '=', id).execute();
  if (internalDiffers) {
    await tx
      .updateTable('timeline_entries')
      .set({ internal: after.internal })
      .where('vulnerability_id', '=', vulnerabilityId)
      .where('comment_id', '=', id)
      .execute();
  }
  if (!internal || row.internal === 0) await touchVulnerability(tx, { id: vulnerabilityId, now });
  const told = (state: { text: string; internal: number }) => ({
    ...(textDiffers ? { text: state.text } : {}),
    ...(internalDiffers ? { internal: state.internal === 1 } : {}),
  });
  await recordEvent(tx, act, {
    ...auditTarget('update', internal || row.internal === 1, id),
    organizationId: row.organization_id,
    before: told(row),
    after: told(after),
  });
  return toComment({ ...row, ...after }, userOf(row.user_id));
}

/**
 * Removes a comment; the timeline keeps that there was one.
 * @throws Failure `missing` for what the caller does not see, `forbidden` for another's comment of who is no admin,
 *   `changed` for another version than is expected
 */
export async function deleteComment(
  tx: Transaction,
  act: Attribution<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller, now } = act;
  const row = await lockComment(tx, caller, vulnerabilityId, id);
  const isAuthor = row.user_id !== null && row.user_id === caller.userId;
  if (!isAuthor && !isAdminOf(caller, row.organization_id))
    throw new DomainError('forbidden', { code: 'comment-author-or-admin-only' });
  requireVersion(expected, row.version);
  await tx.deleteFrom('comments').where('id', '=', id).execute();
  if (row.internal === 0) await touchVulnerability(tx, { id: vulnerabilityId, now });
  await recordEvent(tx, act, {
    ...auditTarget('delete', row.internal === 1, id),
    organizationId: row.organization_id,
    before: { vulnerability: vulnerabilityId, text: row.text, internal: row.internal === 1 },
    after: null,
  });
}

async function lockComment(
  tx: Transaction,
  caller: Caller,
  vulnerabilityId: number,
  id: number,
): Promise<CommentRow> {
  await lockVulnerability(tx, caller, vulnerabilityId);
  const row = await tx
    .selectFrom('comments')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('vulnerability_id', '=', vulnerabilityId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined || (row.internal === 1 && !caller.staff)) throw notFound('comment');
  return row;
}

function requireStaff(caller: Caller, internal: boolean): void {
  if (internal && !caller.staff)
    throw new DomainError('forbidden', { code: 'internal-comment-staff-only' }, [
      { property: 'internal', code: 'staff-only', value: true },
    ]);
}

/** Events of internal comments are of a type of their own, which is told to staff alone. */
function auditTarget(verb: 'create' | 'update' | 'delete', internal: boolean, id: number) {
  return internal
    ? ({ action: `internal-comment.${verb}`, object: ['internal-comment', id] } as const)
    : ({ action: `comment.${verb}`, object: ['comment', id] } as const);
}

function toComment(row: CommentRow, user: UserRef | null): Comment {
  return {
    id: row.id,
    version: row.version,
    text: row.text,
    internal: row.internal === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    user,
  };
}
