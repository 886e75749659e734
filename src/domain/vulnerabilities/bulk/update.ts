import type { Attribution, Caller } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
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
import { type FieldChange, hasChanges, writeFieldChanges } from './write.ts';
import { type LockedVulnerability, lockVulnerabilities, type MutableFields } from '../lock-vulnerability.ts';
import { closedAt, validateStatus } from '../../shared/statuses-and-severities.ts';
import { accessByPair } from '../../assessments/assessment-access.ts';
import { vulnerabilityList } from '../vulnerability-list.ts';

/** The most vulnerabilities that are changed at once. */
export const MAX_BULK_UPDATE = 10_000;

/** What becomes of each of many; what is absent stays. */
export interface BulkUpdateFields extends TagUpdate {
  statusId?: number | undefined;
  severity?: string | undefined;
  assigneeId?: number | null | undefined;
  /** A day: `2026-11-22`. */
  dueOn?: string | null | undefined;
}

/** A change of many, by one of `ids` and `filter`, or `undo` alone. */
export interface BulkUpdate {
  ids?: readonly number[] | undefined;
  filter?: FilterInput<typeof vulnerabilityList.filters> | undefined;
  set?: BulkUpdateFields | undefined;
  /** Put on each that matches. */
  comment?: string | undefined;
  dryRun?: boolean | undefined;
  /** How many match; anything else changes nothing. */
  expectedCount?: number | undefined;
  /** The id of the request whose change is set back. */
  undo?: string | undefined;
}

/** What a change of many has done, or would do. */
export interface BulkUpdateResult {
  matched: number;
  /** Ids, ascending. */
  changed: number[];
  /** Of an undo: how many stay as they are, because somebody changed them since or they are gone. */
  kept?: number;
}

/**
 * Changes many vulnerabilities, all or nothing (operation 30).
 * @throws Failure `invalid` for a bad form, for ids out of reach, for tags and an assignee that do not go with each match,
 *   `oversized` for more than `MAX_CHANGED` matches, `conflict` when another number matches than is expected
 */
export async function bulkUpdateVulnerabilities(
  tx: Transaction,
  act: Attribution<Caller>,
  change: BulkUpdate,
): Promise<BulkUpdateResult> {
  const { undo, set = {}, dryRun = false, comment, expectedCount } = change;
  const faults = undo === undefined ? validateForm(change) : validateUndo(change);
  if (faults.length > 0) throw invalidInput(faults);
  if (undo !== undefined) return undoBulkUpdate(tx, act, undo);

  const held = await lockMatches(tx, act, change);
  const tagRules = await buildTagTransforms(
    tx,
    act,
    [...new Set(held.map(({ organizationId }) => organizationId))],
    set,
    dryRun || (expectedCount !== undefined && expectedCount !== held.length),
  );
  await requireAssigneeOfEach(tx, held, set.assigneeId);
  if (expectedCount !== undefined && expectedCount !== held.length)
    throw new DomainError(
      'conflict',
      { code: 'count-mismatch', params: { count: held.length, expected: expectedCount } },
      [
        {
          property: 'expectedCount',
          code: 'not-the-count',
          params: { count: held.length },
          value: expectedCount,
        },
      ],
    );
  const changes = held
    .map((one) => ({ locked: one, after: fieldsAfter(one, set, act.now, tagRules.get(one.organizationId)) }))
    .filter(hasChanges);
  if (!dryRun) {
    await writeChanges(tx, act, changes);
    if (comment !== undefined) await bulkComment(tx, act, held, comment);
  }
  return { matched: held.length, changed: changes.map((one) => one.locked.id) };
}

async function undoBulkUpdate(
  tx: Transaction,
  act: Attribution<Caller>,
  requestId: string,
): Promise<BulkUpdateResult> {
  const { changes, size } = await buildUndo(tx, act, requestId);
  await writeChanges(tx, act, changes);
  return {
    matched: size,
    changed: changes.map(({ locked }) => locked.id),
    kept: size - changes.length,
  };
}

async function writeChanges(
  tx: Transaction,
  act: Attribution,
  changes: readonly FieldChange[],
): Promise<void> {
  await storeUndo(tx, act, changes);
  if (changes.length === 0) return;
  const tags = new Set<number>();
  for (const { locked, after } of changes) {
    for (const tag of locked.fields.tags) tags.add(tag);
    for (const tag of after.tags) tags.add(tag);
  }
  await writeFieldChanges(tx, act, changes, await tagNamesById(tx, tags));
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

/** @returns all that match, held, by id */
async function lockMatches(
  tx: Transaction,
  { actor, now }: Attribution<Caller>,
  { ids, filter }: BulkUpdate,
): Promise<LockedVulnerability[]> {
  const wanted = ids ?? (await matchingIds(tx, { actor, now }, filter ?? {}));
  const ascending = [...new Set(wanted)].sort((one, other) => one - other);
  const held = await lockVulnerabilities(tx, actor, ascending);
  const faults = (ids ?? []).flatMap((id, index): FieldError[] =>
    held.has(id)
      ? []
      : [
          {
            property: `ids.${index}`,
            code: 'inaccessible-vulnerability',
            value: id,
          },
        ],
  );
  if (faults.length > 0) throw invalidInput(faults);
  return [...held.values()];
}

/** @throws Failure `oversized` for more than `MAX_CHANGED` */
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

/** @throws Failure `invalid` for a user who has not access to the assessment of each */
async function requireAssigneeOfEach(
  tx: Transaction,
  held: readonly LockedVulnerability[],
  assigneeId: number | null | undefined,
): Promise<void> {
  if (assigneeId == null) return;
  const hasAccess = await accessByPair(
    tx,
    held.map(({ assessmentId }) => [assessmentId, assigneeId]),
  );
  if (held.every(({ assessmentId }) => hasAccess(assessmentId, assigneeId))) return;
  throw invalidInput({
    property: 'set.assigneeId',
    code: 'user-without-access-to-all',
    value: assigneeId,
  });
}

function validateForm({ ids, filter, set }: BulkUpdate): FieldError[] {
  const faults: FieldError[] = [];
  if (ids === undefined && filter === undefined)
    faults.push({ property: 'ids', code: 'required-unless', params: { other: 'filter' } });
  if (ids !== undefined && filter !== undefined)
    faults.push({ property: 'filter', code: 'conflicts-with', params: { other: 'ids' } });
  if (set === undefined) return [...faults, { property: 'set', code: 'required' }];
  if (set.statusId !== undefined) faults.push(...validateStatus('set.statusId', set.statusId));
  if (set.dueOn != null && !isCalendarDate(set.dueOn))
    faults.push({ property: 'set.dueOn', code: 'not-a-date', value: set.dueOn });
  return [...faults, ...validateTagUpdate(set)];
}

function validateUndo(change: BulkUpdate): FieldError[] {
  return Object.entries(change).flatMap(([property, value]) =>
    property === 'undo' || value === undefined
      ? []
      : [{ property, code: 'conflicts-with', params: { other: 'undo' } }],
  );
}
