import { sql } from 'kysely';
import type { Attribution, Caller } from '../../../auth/callers.ts';
import { inList } from '../../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../../db/engine.ts';
import { countUnindexed, MIN_TRIGRAM_LENGTH } from '../../../db/vulnerability-search.ts';
import { DomainError, type FieldError, invalidInput } from '../../shared/errors.ts';
import type { FilterInput } from '../../lists/filters.ts';
import { isCalendarDate } from '../../shared/time.ts';
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
import { type LockedVulnerability, lockVulnerabilities, type MutableFields } from '../lock-vulnerability.ts';
import { closedAt, validateStatus } from '../../shared/statuses-and-severities.ts';
import { accessByPair } from '../../assessments/assessment-access.ts';
import { vulnerabilityList } from '../vulnerability-list.ts';

/** Vulnerabilities of one bulk update. */
export const MAX_BULK_UPDATE = 10_000;

/** Absent fields stay. */
export interface BulkUpdateFields extends TagUpdate {
  statusId?: number | undefined;
  severity?: string | undefined;
  assigneeId?: number | null | undefined;
  /** A day: `2026-11-22`. */
  dueOn?: string | null | undefined;
}

/** Either `ids` or `filter`, or `undo` alone. */
export interface BulkUpdate {
  ids?: readonly number[] | undefined;
  filter?: FilterInput<typeof vulnerabilityList.filters> | undefined;
  set?: BulkUpdateFields | undefined;
  /** Added to every match. */
  comment?: string | undefined;
  dryRun?: boolean | undefined;
  /** Another number of matches changes nothing. */
  expectedCount?: number | undefined;
  /** The id of the request to undo. */
  undo?: string | undefined;
}

/** What a bulk update did, or would do. */
export interface BulkUpdateResult {
  matched: number;
  /** Ids, ascending. */
  changed: number[];
  /** For an undo, the number of vulnerabilities that were changed since or deleted, and stay. */
  kept?: number;
}

/** @returns how many vulnerabilities a search may miss, because their import has only just ended (SQLite) */
export async function countUnsearchable(
  db: ReadConnection,
  caller: Caller,
  { search = '' }: { search?: string | undefined } = {},
): Promise<number> {
  if ([...search].length < MIN_TRIGRAM_LENGTH) return 0;
  const own = caller.organizationId === null ? [] : [caller.organizationId];
  return countUnindexed(db, caller.staff ? caller.assignedOrganizations : own);
}

/**
 * Updates many vulnerabilities, all or nothing (operation 30).
 * @throws DomainError `invalid` for a bad form, for invisible ids, and for tags and an assignee that do not fit
 *   every match, `too-many` for more than `MAX_BULK_UPDATE` matches, `conflict` when the number of matches is not
 *   the expected one
 */
export async function bulkUpdateVulnerabilities(
  tx: Transaction,
  by: Attribution<Caller>,
  change: BulkUpdate,
): Promise<BulkUpdateResult> {
  const { undo, set = {}, dryRun = false, comment, expectedCount } = change;
  const errors = undo === undefined ? validateForm(change) : validateUndo(change);
  if (errors.length > 0) throw invalidInput(errors);
  if (undo !== undefined) return undoBulkUpdate(tx, by, undo);

  const locked = await lockMatches(tx, by, change);
  const tagRules = await buildTagTransforms(
    tx,
    by,
    [...new Set(locked.map(({ organizationId }) => organizationId))],
    set,
    dryRun || (expectedCount !== undefined && expectedCount !== locked.length),
  );
  await requireAssigneeOfEach(tx, locked, set.assigneeId);
  if (expectedCount !== undefined && expectedCount !== locked.length)
    throw new DomainError(
      'conflict',
      { code: 'count-mismatch', params: { count: locked.length, expected: expectedCount } },
      [
        {
          property: 'expectedCount',
          code: 'not-the-count',
          params: { count: locked.length },
          value: expectedCount,
        },
      ],
    );
  const changes = locked
    .map((one) => ({ locked: one, after: fieldsAfter(one, set, by.now, tagRules.get(one.organizationId)) }))
    .filter(hasChanges);
  if (!dryRun) {
    await writeChanges(tx, by, changes);
    if (comment !== undefined) await bulkComment(tx, by, locked, comment);
  }
  return { matched: locked.length, changed: changes.map((one) => one.locked.id) };
}

async function undoBulkUpdate(
  tx: Transaction,
  by: Attribution<Caller>,
  requestId: string,
): Promise<BulkUpdateResult> {
  const { changes, size } = await buildUndo(tx, by, requestId);
  await writeChanges(tx, by, changes);
  return {
    matched: size,
    changed: changes.map(({ locked }) => locked.id),
    kept: size - changes.length,
  };
}

async function writeChanges(
  tx: Transaction,
  by: Attribution,
  changes: readonly FieldChange[],
): Promise<void> {
  await storeUndo(tx, by, changes);
  if (changes.length === 0) return;
  const tags = new Set<number>();
  for (const { locked, after } of changes) {
    for (const tag of locked.fields.tags) tags.add(tag);
    for (const tag of after.tags) tags.add(tag);
  }
  await writeFieldChanges(tx, by, changes, await tagNamesById(tx, tags));
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

/** @returns all matches, locked, ordered by id */
async function lockMatches(
  tx: Transaction,
  { actor, now }: Attribution<Caller>,
  { ids, filter }: BulkUpdate,
): Promise<LockedVulnerability[]> {
  const requested = ids ?? (await matchingIds(tx, { actor, now }, filter ?? {}));
  const ascending = [...new Set(requested)].sort((one, other) => one - other);
  const locked = await lockVulnerabilities(tx, actor, ascending);
  const errors = (ids ?? []).flatMap((id, index): FieldError[] =>
    locked.has(id)
      ? []
      : [
          {
            property: `ids.${index}`,
            code: 'inaccessible-vulnerability',
            value: id,
          },
        ],
  );
  if (errors.length > 0) throw invalidInput(errors);
  const all = [...locked.values()];
  if (filter === undefined || tx.engine === 'sqlite') return all;
  const matching = await stillMatching(tx, { actor, now }, filter, [...locked.keys()]);
  return all.filter(({ id }) => matching.has(id));
}

/**
 * Filters locked vulnerabilities again: while PostgreSQL waited for their locks, other transactions may have changed them.
 * @param ids of locked vulnerabilities
 * @returns those that the filter selects now
 */
async function stillMatching(
  tx: Transaction,
  { actor, now }: Attribution<Caller>,
  filters: FilterInput<typeof vulnerabilityList.filters>,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const query = await vulnerabilityList.query({ db: tx, caller: actor, now }, filters);
  const rows = await query
    .clearSelect()
    .select('vulnerabilities.id')
    .where(inList(tx, sql.ref<number>('vulnerabilities.id'), ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** @throws DomainError `too-many` for more than `MAX_BULK_UPDATE` */
async function matchingIds(
  tx: Transaction,
  { actor, now }: Attribution<Caller>,
  filters: FilterInput<typeof vulnerabilityList.filters>,
): Promise<number[]> {
  const reading = { db: tx, caller: actor, now };
  const request = { filters, sort: 'resolvedAt' as const, descending: false };
  const positions = await vulnerabilityList.positions(reading, request, 0, 0, MAX_BULK_UPDATE + 1);
  if (positions.length <= MAX_BULK_UPDATE) return positions.map(({ id }) => Number(id));
  const size = await vulnerabilityList.count(reading, filters);
  throw new DomainError(
    'too-many',
    { code: 'too-many-vulnerabilities', params: { count: size, max: MAX_BULK_UPDATE } },
    [],
    { max: MAX_BULK_UPDATE, size },
  );
}

/** @throws DomainError `invalid` unless the user has access to every assessment */
async function requireAssigneeOfEach(
  tx: Transaction,
  locked: readonly LockedVulnerability[],
  assigneeId: number | null | undefined,
): Promise<void> {
  if (assigneeId == null) return;
  const hasAccess = await accessByPair(
    tx,
    locked.map(({ assessmentId }) => [assessmentId, assigneeId]),
  );
  if (locked.every(({ assessmentId }) => hasAccess(assessmentId, assigneeId))) return;
  throw invalidInput({
    property: 'set.assigneeId',
    code: 'user-without-access-to-all',
    value: assigneeId,
  });
}

function validateForm({ ids, filter, set }: BulkUpdate): FieldError[] {
  const errors: FieldError[] = [];
  if (ids === undefined && filter === undefined)
    errors.push({ property: 'ids', code: 'required-unless', params: { other: 'filter' } });
  if (ids !== undefined && filter !== undefined)
    errors.push({ property: 'filter', code: 'conflicts-with', params: { other: 'ids' } });
  if (set === undefined) return [...errors, { property: 'set', code: 'required' }];
  if (set.statusId !== undefined) errors.push(...validateStatus('set.statusId', set.statusId));
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
