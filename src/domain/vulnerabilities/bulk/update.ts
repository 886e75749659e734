import type { ChangeContext, Caller } from '../../../auth/callers.ts';
import type { Permission } from '../../../auth/roles.ts';
import type { ReadConnection, Transaction } from '../../../db/database.ts';
import { countUnindexed, MIN_TRIGRAM_LENGTH } from '../../../db/vulnerability-search.ts';
import { DomainError, type FieldError, invalidInput } from '../../shared/errors.ts';
import { belongsToStaff, requirePermission } from '../../shared/permissions.ts';
import { isDismissed, requireStatusMoves } from '../status-permissions.ts';
import type { ListContext } from '../../lists/filters.ts';
import { isCalendarDate } from '../../shared/time.ts';
import { publishDrafts, requireDraftRight, requirePublisher } from '../drafts.ts';
import { bulkComment } from './comment.ts';
import {
  buildTagTransforms,
  tagNamesById,
  type TagUpdate,
  validateTagUpdate,
  type TagTransform,
} from './tags.ts';
import { buildUndo, storeUndo } from './undo.ts';
import { type FieldChange, hasChanges } from './field-changes.ts';
import { writeFieldChanges } from './write.ts';
import type { LockedVulnerability, MutableFields } from '../lock-vulnerability.ts';
import { closedAt, type Severity, validateStatus } from '../../shared/statuses-and-severities.ts';
import { loadNameableCheck } from '../../assessments/nameable-users.ts';
import { findMatches, lockMatches, type Match, type VulnerabilityFilters } from './matches.ts';

/** Vulnerabilities times the tags that the update names. */
export const MAX_BULK_TAG_PAIRS = 50_000;
/** Added and removed tags, including those that the update does not name. */
export const MAX_BULK_TAG_CHANGES = 100_000;
/** Bytes of all comments of a bulk update. */
export const MAX_BULK_COMMENT_BYTES = 8 * 1024 * 1024;

/** Absent fields stay. */
export interface BulkUpdateFields extends TagUpdate {
  statusId?: number | undefined;
  severity?: Severity | undefined;
  assigneeId?: number | null | undefined;
  /** A day: `2026-11-22`. */
  dueOn?: string | null | undefined;
  /** For staff: `false` publishes drafts. */
  draft?: boolean | undefined;
}

/** Either `ids` or `filter`, or `undo` alone. */
export interface BulkUpdate {
  ids?: readonly number[] | undefined;
  filter?: VulnerabilityFilters | undefined;
  set?: BulkUpdateFields | undefined;
  comment?: string | undefined;
  dryRun?: boolean | undefined;
  /** The expected number of matches. With another number, the update changes nothing. */
  expectedCount?: number | undefined;
  /** The id of the request to undo. */
  undo?: string | undefined;
}

/** A bulk update whose form is valid and whose size is within the limits. */
export interface PreparedBulkUpdate extends BulkUpdate {
  /** The vulnerabilities that `filter` selected, as they were then. */
  matches?: readonly Match[];
}

/** The effect of a bulk update, or of its preview. */
export interface BulkUpdateResult {
  matched: number;
  /** Ids, ascending. */
  changed: number[];
  /** The number of vulnerabilities that an undo leaves as they are, because they were changed or deleted since. */
  kept?: number;
}

/** @returns how many vulnerabilities a search may miss, because their import has only just ended */
export async function countUnsearchable(
  db: ReadConnection,
  caller: Caller,
  { search = '' }: { search?: string | undefined } = {},
): Promise<number> {
  if ([...search].length < MIN_TRIGRAM_LENGTH) return 0;
  const organizations = caller.organizationId === null ? [] : [caller.organizationId];
  return countUnindexed(db, caller.staff ? caller.assignedOrganizations : organizations);
}

/**
 * Checks a bulk update, and reads what its filter selects. A separate step, because the transaction that follows keeps
 * others from writing.
 * @throws DomainError `invalid` for a bad form, `too-many` beyond a limit, `forbidden` if the caller is not staff
 *   and the body has `draft`
 */
export async function prepareBulkUpdate(
  listContext: ListContext,
  change: BulkUpdate,
): Promise<PreparedBulkUpdate> {
  const { ids, filter, undo } = change;
  for (const { draft } of [change.set ?? {}, filter ?? {}]) requireDraftRight(listContext.caller, draft);
  if (undo === undefined) requireBoundedSize(new Set(ids).size, change);
  const errors = undo === undefined ? validateForm(change) : validateUndo(change);
  if (errors.length > 0) throw invalidInput(errors);
  if (filter === undefined) return change;
  const matches = await findMatches(listContext, filter);
  requireBoundedSize(matches.length, change);
  return { ...change, matches };
}

/**
 * Updates many vulnerabilities, all or nothing (operation 30).
 * @throws DomainError `invalid` for invisible ids, and for tags and an assignee that do not fit every match, `too-many`
 *   for more than `MAX_BULK_TAG_CHANGES`, `conflict` when the number of matches is not the expected one
 */
export async function bulkUpdateVulnerabilities(
  tx: Transaction,
  by: ChangeContext<Caller>,
  change: PreparedBulkUpdate,
): Promise<BulkUpdateResult> {
  const { undo, set = {}, dryRun = false, comment, expectedCount } = change;
  if (undo !== undefined) return undoBulkUpdate(tx, by, undo);

  const locked = await lockMatches(tx, by, change);
  await requireBulkPermissions(tx, by.actor, locked, change);
  const tagRules = await buildTagTransforms(
    tx,
    by,
    [...new Set(locked.map(({ organizationId }) => organizationId))],
    set,
    dryRun || (expectedCount !== undefined && expectedCount !== locked.length),
  );
  await requireAssigneeOfEach(tx, by.actor, locked, set.assigneeId);
  if (expectedCount !== undefined && expectedCount !== locked.length)
    throw new DomainError('count-mismatch', { count: locked.length, expected: expectedCount }, [
      {
        property: 'expectedCount',
        code: 'not-the-count',
        params: { count: locked.length },
        value: expectedCount,
      },
    ]);
  const drafts = requirePublishable(locked, set.draft);
  await requirePublisher(tx, by.actor, [...drafts]);
  const changes = locked
    .map((row) => ({ locked: row, after: fieldsAfter(row, set, by.now, tagRules.get(row.organizationId)) }))
    .filter((changed) => hasChanges(changed) || drafts.has(changed.locked.id));
  requireOwnSeverities(by.actor, changes);
  requireAtMost('tag changes', MAX_BULK_TAG_CHANGES, countTagChanges(changes));
  if (!dryRun) {
    await writeChanges(tx, by, changes, drafts);
    const commented = locked.map((row) => (drafts.has(row.id) ? { ...row, draft: 0 } : row));
    if (comment !== undefined) await bulkComment(tx, by, commented, comment);
  }
  return { matched: locked.length, changed: changes.map(({ locked: row }) => row.id) };
}

/** @throws DomainError `forbidden` unless the caller's roles permit the update of every match */
async function requireBulkPermissions(
  tx: Transaction,
  caller: Caller,
  locked: readonly LockedVulnerability[],
  { set = {}, comment }: BulkUpdate,
): Promise<void> {
  const { statusId, assigneeId, dueOn, ...triaged } = set;
  const permissions: Permission[] = ['progress'];
  if (assigneeId !== undefined || dueOn !== undefined) permissions.push('assign');
  if (comment !== undefined) permissions.push('comment');
  if (Object.values(triaged).some((value) => value !== undefined)) permissions.push('triage');
  for (const row of locked)
    for (const permission of permissions) requirePermission(caller, row.organizationId, row, permission);
  if (statusId !== undefined)
    await requireStatusMoves(
      tx,
      caller,
      locked.map((row) => ({ ...row, from: row.fields.statusId, to: statusId })),
    );
}

/** @throws DomainError `forbidden` if others than staff would change the severity of what staff reported */
function requireOwnSeverities(caller: Caller, changes: readonly FieldChange[]): void {
  const count = changes.filter(
    ({ locked, after }) =>
      belongsToStaff(caller, locked.reported_by_staff) && locked.fields.severity !== after.severity,
  ).length;
  if (count > 0) throw new DomainError('staff-severity', { count });
}

/** @throws DomainError `forbidden` unless the caller's roles still permit what the undo changes */
async function requireUndoPermissions(
  tx: Transaction,
  caller: Caller,
  changes: readonly FieldChange[],
): Promise<void> {
  for (const { locked, after } of changes) {
    const { fields, organizationId } = locked;
    const need = (permission: Permission) => requirePermission(caller, organizationId, locked, permission);
    need('progress');
    if (fields.assigneeId !== after.assigneeId || fields.dueOn !== after.dueOn) need('assign');
    if (fields.severity !== after.severity || String(fields.tags) !== String(after.tags)) need('triage');
  }
  await requireStatusMoves(
    tx,
    caller,
    changes.map(({ locked, after }) => ({ ...locked, from: locked.fields.statusId, to: after.statusId })),
  );
}

async function undoBulkUpdate(
  tx: Transaction,
  by: ChangeContext<Caller>,
  requestId: string,
): Promise<BulkUpdateResult> {
  const { changes, size } = await buildUndo(tx, by, requestId);
  await requireUndoPermissions(tx, by.actor, changes);
  requireOwnSeverities(by.actor, changes);
  await writeChanges(tx, by, changes);
  return {
    matched: size,
    changed: changes.map(({ locked }) => locked.id),
    kept: size - changes.length,
  };
}

async function writeChanges(
  tx: Transaction,
  by: ChangeContext<Caller>,
  changes: readonly FieldChange[],
  drafts: ReadonlySet<number> = new Set(),
): Promise<void> {
  await storeUndo(tx, by, changes, drafts);
  if (changes.length === 0) return;
  const tags = new Set<number>();
  for (const { locked, after } of changes) {
    for (const tag of locked.fields.tags) tags.add(tag);
    for (const tag of after.tags) tags.add(tag);
  }
  await writeFieldChanges(tx, by, changes.filter(hasChanges), await tagNamesById(tx, tags));
  if (drafts.size > 0) await publishDrafts(tx, by, [...drafts]);
}

/**
 * @returns the ids of the drafts to publish, ascending
 * @throws DomainError `invalid` if a published vulnerability would become a draft
 */
function requirePublishable(
  locked: readonly LockedVulnerability[],
  draft: boolean | undefined,
): ReadonlySet<number> {
  if (draft === true && locked.some((row) => row.draft === 0))
    throw invalidInput({ property: 'set.draft', code: 'already-published', value: true });
  return new Set(draft === false ? locked.flatMap((row) => (row.draft === 1 ? [row.id] : [])) : []);
}

function fieldsAfter(
  { fields }: LockedVulnerability,
  set: BulkUpdateFields,
  now: number,
  tagRule: TagTransform | undefined,
): MutableFields {
  const { statusId = fields.statusId, severity = fields.severity } = set;
  const moves = statusId !== fields.statusId;
  return {
    statusId,
    statusSetAt: moves ? now : fields.statusSetAt,
    closedAt: moves ? closedAt(statusId, now) : fields.closedAt,
    severity,
    assigneeId: set.assigneeId === undefined ? fields.assigneeId : set.assigneeId,
    dueOn: set.dueOn === undefined ? fields.dueOn : set.dueOn,
    tags: tagRule?.(fields.tags) ?? fields.tags,
  };
}

/** @throws DomainError `too-many` if the vulnerabilities times the tags, or times the comment, exceed a limit */
function requireBoundedSize(matches: number, { set = {}, comment = '' }: BulkUpdate): void {
  const { tagIds = [], tagNames = [], addTags = [], removeTags = [] } = set;
  const tags = tagIds.length + tagNames.length + addTags.length + removeTags.length;
  requireAtMost('pairs of a vulnerability and a tag', MAX_BULK_TAG_PAIRS, matches * tags);
  requireAtMost('bytes of comments', MAX_BULK_COMMENT_BYTES, matches * Buffer.byteLength(comment));
}

function countTagChanges(changes: readonly FieldChange[]): number {
  return changes.reduce((count, { locked, after }) => {
    if (after.tags === locked.fields.tags) return count;
    const before = new Set(locked.fields.tags);
    const unchanged = after.tags.filter((tag) => before.has(tag)).length;
    return count + before.size + after.tags.length - 2 * unchanged;
  }, 0);
}

/** @throws DomainError `too-many` */
function requireAtMost(noun: string, max: number, size: number): void {
  if (size <= max) return;
  throw new DomainError('bulk-update-too-large', { noun, size, max }, [], { max, size });
}

/** @throws DomainError `invalid` unless the user has access to every assessment and the caller can name them */
async function requireAssigneeOfEach(
  tx: Transaction,
  caller: Caller,
  locked: readonly LockedVulnerability[],
  assigneeId: number | null | undefined,
): Promise<void> {
  if (assigneeId == null) return;
  const isNameable = await loadNameableCheck(
    tx,
    caller,
    'assign',
    locked.map(({ assessmentId }) => [assessmentId, assigneeId]),
  );
  if (locked.every(({ assessmentId }) => isNameable(assessmentId, assigneeId))) return;
  throw invalidInput({ property: 'set.assigneeId', code: 'user-without-access-to-all', value: assigneeId });
}

function validateForm({ ids, filter, set, comment = '' }: BulkUpdate): FieldError[] {
  const errors: FieldError[] = [];
  if (ids === undefined && filter === undefined)
    errors.push({ property: 'ids', code: 'required-unless', params: { other: 'filter' } });
  if (ids !== undefined && filter !== undefined)
    errors.push({ property: 'filter', code: 'conflicts-with', params: { other: 'ids' } });
  if (set === undefined) return [...errors, { property: 'set', code: 'required' }];
  if (set.statusId !== undefined) errors.push(...validateStatus('set.statusId', set.statusId));
  if (set.statusId !== undefined && isDismissed(set.statusId) && comment.trim() === '')
    errors.push({ property: 'comment', code: 'reason-required' });
  if (set.dueOn != null && !isCalendarDate(set.dueOn))
    errors.push({ property: 'set.dueOn', code: 'not-a-date', value: set.dueOn });
  return [...errors, ...validateTagUpdate(set)];
}

function validateUndo(change: BulkUpdate): FieldError[] {
  return Object.entries(change).flatMap(([property, value]) =>
    property === 'undo' || value === undefined
      ? []
      : [{ property, code: 'conflicts-with', params: { other: 'undo' } }],
  );
}
