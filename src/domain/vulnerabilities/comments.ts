import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { isAdminOf } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { belongsToStaff } from '../shared/permissions.ts';
import { type Filter, integerFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import {
  lockVulnerability,
  requireVulnerabilityPermission,
  touchVulnerability,
  type VisibleVulnerability,
} from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

/** A comment on a vulnerability; times in milliseconds since 1970. */
export interface Comment {
  id: number;
  version: number;
  text: string;
  /** Visible to staff only. */
  internal: boolean;
  createdAt: number;
  updatedAt: number;
  user: UserRef | null;
  byStaff: boolean;
}

type CommentRow = Pick<Row<'comments'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  'id',
  'organization_id',
  'user_id',
  'text',
  'internal',
  'created_at',
  'updated_at',
  'version',
  'by_staff',
] as const;

/** Comments of a vulnerability (operation 24). The caller checks that `vulnerabilityId` is visible. */
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
 * Adds a comment.
 * @throws DomainError `not-found`, `forbidden` without the role, and for an internal comment unless the caller is staff
 */
export async function createComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  vulnerabilityId: number,
  { text, internal }: { text: string; internal: boolean },
): Promise<Comment> {
  const vulnerability = await lockVulnerability(tx, by.actor, vulnerabilityId, 'comment');
  requireStaff(by.actor, internal);
  return insertComment(tx, by, vulnerability, { text, internal });
}

/**
 * Inserts a comment on a locked vulnerability. An internal one leaves `updated_at`, which every reader sees. Comments on
 * a draft are internal, and stay so.
 */
export async function insertComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  {
    id: vulnerabilityId,
    organization_id: organizationId,
    draft,
  }: Pick<VisibleVulnerability, 'id' | 'organization_id' | 'draft'>,
  { text, ...comment }: { text: string; internal: boolean },
): Promise<Comment> {
  const internal = comment.internal || draft === 1;
  const row = await tx
    .insertInto('comments')
    .values({
      organization_id: organizationId,
      vulnerability_id: vulnerabilityId,
      user_id: by.actor.userId,
      by_staff: by.actor.staff ? 1 : 0,
      text,
      internal: internal ? 1 : 0,
      created_at: by.now,
      updated_at: by.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  if (!internal) await touchVulnerability(tx, { id: vulnerabilityId, now: by.now });
  await recordTimeline(tx, by, {
    organizationId,
    vulnerabilityId,
    kind: 'comment',
    commentId: row.id,
    internal,
  });
  await recordEvent(tx, by, {
    ...commentTarget('create', internal, row.id),
    organizationId,
    before: null,
    after: { vulnerability: vulnerabilityId, text, internal },
  });
  const userOf = await loadUserRefs(tx, [row.user_id]);
  return toComment(row, userOf(row.user_id));
}

/**
 * Updates the caller's own comment.
 * @throws DomainError `not-found`, `forbidden` for another user's comment and for an internal one unless the caller is
 *   staff, `version-mismatch`
 */
export async function updateComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  change: { text?: string | undefined; internal?: boolean | undefined },
  expected?: ExpectedVersion,
): Promise<Comment> {
  const { actor: caller, now } = by;
  const { row, vulnerability } = await lockComment(tx, caller, vulnerabilityId, id);
  if (row.user_id === null || row.user_id !== caller.userId) throw new DomainError('comment-author-only');
  requireVulnerabilityPermission(caller, vulnerability, 'comment');
  const text = change.text ?? row.text;
  const internal = vulnerability.draft === 1 || (change.internal ?? row.internal === 1);
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
  const snapshot = (state: { text: string; internal: number }) => ({
    ...(textDiffers ? { text: state.text } : {}),
    ...(internalDiffers ? { internal: state.internal === 1 } : {}),
  });
  await recordEvent(tx, by, {
    ...commentTarget('update', internal || row.internal === 1, id),
    organizationId: row.organization_id,
    before: snapshot(row),
    after: snapshot(after),
  });
  return toComment({ ...row, ...after }, userOf(row.user_id));
}

/**
 * Deletes a comment; its timeline entry stays.
 * @throws DomainError `not-found`, `forbidden` unless the caller wrote it or is an admin, `version-mismatch`
 */
export async function deleteComment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller, now } = by;
  const { row, vulnerability } = await lockComment(tx, caller, vulnerabilityId, id);
  const isAuthor = row.user_id !== null && row.user_id === caller.userId;
  if (!isAuthor && !isAdminOf(caller, row.organization_id))
    throw new DomainError('comment-author-or-admin-only');
  requireVulnerabilityPermission(caller, vulnerability, 'comment');
  if (belongsToStaff(caller, row.by_staff)) throw new DomainError('staff-comment');
  requireVersion(expected, row.version);
  await tx.deleteFrom('comments').where('id', '=', id).execute();
  if (row.internal === 0) await touchVulnerability(tx, { id: vulnerabilityId, now });
  await recordEvent(tx, by, {
    ...commentTarget('delete', row.internal === 1, id),
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
): Promise<{ row: CommentRow; vulnerability: VisibleVulnerability }> {
  const vulnerability = await lockVulnerability(tx, caller, vulnerabilityId, undefined);
  const row = await tx
    .selectFrom('comments')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('vulnerability_id', '=', vulnerabilityId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined || (row.internal === 1 && !caller.staff)) throw notFound('comment');
  return { row, vulnerability };
}

function requireStaff(caller: Caller, internal: boolean): void {
  if (internal && !caller.staff)
    throw new DomainError('internal-comment-staff-only', undefined, [
      { property: 'internal', code: 'staff-only', value: true },
    ]);
}

/** @returns action and object of an audit event. Internal comments have their own, visible to staff only */
export function commentTarget(change: 'create' | 'update' | 'delete', internal: boolean, id: number) {
  return internal
    ? ({ action: `internal-comment.${change}`, object: ['internal-comment', id] } as const)
    : ({ action: `comment.${change}`, object: ['comment', id] } as const);
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
    byStaff: row.by_staff === 1,
  };
}
