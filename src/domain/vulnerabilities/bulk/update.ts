import type { Act, Caller } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { Failure, type Fault, invalid } from '../../shared/errors.ts';
import type { Chosen } from '../../lists/filters.ts';
import { isDay } from '../../shared/time.ts';
import { commentOnMany } from './comment.ts';
import { differs, type Held, holdVulnerabilities, type State, type StateChange } from './lock.ts';
import { findTagRules, namesOfTags, type TagChange, tagChangeFaults, type TagRule } from './tags.ts';
import { findUndo, keepForUndo } from './undo.ts';
import { writeStates } from './write.ts';
import { closedAt, statusFaults } from '../statuses-and-severities.ts';
import { accessOfPairs } from '../resolve-references.ts';
import { vulnerabilityList } from '../vulnerability-list.ts';

/** The most vulnerabilities that are changed at once. */
export const MAX_CHANGED = 10_000;

/** What becomes of each of many; what is absent stays. */
export interface ManySet extends TagChange {
  statusId?: number | undefined;
  severity?: string | undefined;
  assigneeId?: number | null | undefined;
  /** A day: `2026-11-22`. */
  dueOn?: string | null | undefined;
}

/** A change of many, by one of `ids` and `filter`, or `undo` alone. */
export interface ManyChange {
  ids?: readonly number[] | undefined;
  filter?: Chosen<typeof vulnerabilityList.filters> | undefined;
  set?: ManySet | undefined;
  /** Put on each that matches. */
  comment?: string | undefined;
  dryRun?: boolean | undefined;
  /** How many match; anything else changes nothing. */
  expectedCount?: number | undefined;
  /** The id of the request whose change is set back. */
  undo?: string | undefined;
}

/** What a change of many has done, or would do. */
export interface ManyChanged {
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
export async function changeVulnerabilities(
  tx: Transaction,
  act: Act<Caller>,
  change: ManyChange,
): Promise<ManyChanged> {
  const { undo, set = {}, dryRun = false, comment, expectedCount } = change;
  const faults = undo === undefined ? formFaults(change) : undoFaults(change);
  if (faults.length > 0) throw invalid(faults);
  if (undo !== undefined) return undoChange(tx, act, undo);

  const held = await findMatches(tx, act, change);
  const tagRules = await findTagRules(
    tx,
    act,
    [...new Set(held.map(({ organizationId }) => organizationId))],
    set,
    dryRun || (expectedCount !== undefined && expectedCount !== held.length),
  );
  await requireAssigneeOfAll(tx, held, set.assigneeId);
  if (expectedCount !== undefined && expectedCount !== held.length)
    throw new Failure(
      'conflict',
      `${held.length} vulnerabilities match, and not ${expectedCount}: nothing was changed.`,
      [{ property: 'expectedCount', message: `must be ${held.length}`, value: expectedCount }],
    );
  const changes = held
    .map((one) => ({ held: one, after: afterOf(one, set, act.now, tagRules.get(one.organizationId)) }))
    .filter(differs);
  if (!dryRun) {
    await write(tx, act, changes);
    if (comment !== undefined) await commentOnMany(tx, act, held, comment);
  }
  return { matched: held.length, changed: changes.map((one) => one.held.id) };
}

async function undoChange(tx: Transaction, act: Act<Caller>, requestId: string): Promise<ManyChanged> {
  const { changes, size } = await findUndo(tx, act, requestId);
  await write(tx, act, changes);
  return {
    matched: size,
    changed: changes.map(({ held }) => held.id),
    kept: size - changes.length,
  };
}

async function write(tx: Transaction, act: Act, changes: readonly StateChange[]): Promise<void> {
  await keepForUndo(tx, act, changes);
  if (changes.length === 0) return;
  const tags = new Set<number>();
  for (const { held, after } of changes) {
    for (const tag of held.state.tags) tags.add(tag);
    for (const tag of after.tags) tags.add(tag);
  }
  await writeStates(tx, act, changes, await namesOfTags(tx, tags));
}

function afterOf({ state }: Held, set: ManySet, now: number, tagRule: TagRule | undefined): State {
  const { statusId = state.statusId, severity = state.severity } = set;
  const moves = statusId !== state.statusId;
  return {
    statusId,
    statusSetAt: moves ? now : state.statusSetAt,
    closedAt: moves ? closedAt(statusId, now) : state.closedAt,
    severity,
    assigneeId: set.assigneeId === undefined ? state.assigneeId : set.assigneeId,
    dueOn: set.dueOn === undefined ? state.dueOn : set.dueOn,
    tags: tagRule?.(state.tags) ?? state.tags,
  };
}

/** @returns all that match, held, by id */
async function findMatches(
  tx: Transaction,
  { actor, now }: Act<Caller>,
  { ids, filter }: ManyChange,
): Promise<Held[]> {
  const wanted = ids ?? (await matchingIds(tx, { actor, now }, filter ?? {}));
  const ascending = [...new Set(wanted)].sort((one, other) => one - other);
  const held = await holdVulnerabilities(tx, actor, ascending);
  const faults = (ids ?? []).flatMap((id, index): Fault[] =>
    held.has(id)
      ? []
      : [
          {
            property: `ids.${index}`,
            message: 'is not the id of a vulnerability that you can reach',
            value: id,
          },
        ],
  );
  if (faults.length > 0) throw invalid(faults);
  return [...held.values()];
}

/** @throws Failure `oversized` for more than `MAX_CHANGED` */
async function matchingIds(
  tx: Transaction,
  { actor, now }: Act<Caller>,
  filters: Chosen<typeof vulnerabilityList.filters>,
): Promise<number[]> {
  const reading = { db: tx, caller: actor, now };
  const selection = { filters, order: 'resolvedAt' as const, descending: false };
  const places = await vulnerabilityList.places(reading, selection, 0, 0, MAX_CHANGED + 1);
  if (places.length <= MAX_CHANGED) return places.map(({ id }) => Number(id));
  const size = await vulnerabilityList.count(reading, filters);
  throw new Failure(
    'oversized',
    `${size} vulnerabilities match; at most ${MAX_CHANGED} are changed at once.`,
    [],
    { max: MAX_CHANGED, size },
  );
}

/** @throws Failure `invalid` for a user who has not access to the assessment of each */
async function requireAssigneeOfAll(
  tx: Transaction,
  held: readonly Held[],
  assigneeId: number | null | undefined,
): Promise<void> {
  if (assigneeId == null) return;
  const hasAccess = await accessOfPairs(
    tx,
    held.map(({ assessmentId }) => [assessmentId, assigneeId]),
  );
  if (held.every(({ assessmentId }) => hasAccess(assessmentId, assigneeId))) return;
  throw invalid({
    property: 'set.assigneeId',
    message: 'is not the id of a user with access to the assessment of each',
    value: assigneeId,
  });
}

function formFaults({ ids, filter, set }: ManyChange): Fault[] {
  const faults: Fault[] = [];
  if (ids === undefined && filter === undefined)
    faults.push({ property: 'ids', message: 'is required, or filter', other: 'filter' });
  if (ids !== undefined && filter !== undefined)
    faults.push({ property: 'filter', message: 'must not be there with ids', other: 'ids' });
  if (set === undefined) return [...faults, { property: 'set', message: 'is required' }];
  if (set.statusId !== undefined) faults.push(...statusFaults('set.statusId', set.statusId));
  if (set.dueOn != null && !isDay(set.dueOn))
    faults.push({ property: 'set.dueOn', message: 'must be a day such as 2026-11-22', value: set.dueOn });
  return [...faults, ...tagChangeFaults(set)];
}

function undoFaults(change: ManyChange): Fault[] {
  return Object.entries(change).flatMap(([property, value]) =>
    property === 'undo' || value === undefined
      ? []
      : [{ property, message: 'must not be there with undo', other: 'undo' }],
  );
}
