import { sql } from 'kysely';
import type { Act } from '../../../auth/callers.ts';
import { prepareInsertAlike } from '../../../db/bulk-insert.ts';
import type { Transaction } from '../../../db/engine.ts';
import { eachList, isOneOf } from '../../../db/dialect-sql.ts';
import { recordChangeOfEach, recordChanges } from '../../audit/record-event.ts';
import { addTallyRows, TallySums } from '../../shared/counters.ts';
import { inPieces, linksOf, MORE_AT_ONCE, type State, type StateChange } from './lock.ts';
import { isClosed } from '../statuses-and-severities.ts';
import { insertTaggings } from '../insert-vulnerabilities.ts';
import { statusTold } from '../lock-vulnerability.ts';
import { recordTimelineOfEach, recordTimelines, type TimelineEntry, tagsTold } from '../timeline.ts';
import { assetDifferences, tallyDifferences } from '../vulnerability-counters.ts';

/**
 * Writes what becomes of vulnerabilities that are held, with their counts, timelines and audit events.
 * @param changes that differ, each of another vulnerability
 * @param tagNames of every tag that one of them has or gets
 */
export async function writeStates(
  tx: Transaction,
  act: Act,
  changes: readonly StateChange[],
  tagNames: ReadonlyMap<number, string>,
): Promise<void> {
  const told = tellingOnce(tagNames);
  const { alike, others } = await findAlike(changes);
  for (const group of alike) await writeAlike(tx, act, group, told);
  for await (const some of inPieces(others)) {
    await updateRows(tx, act, some);
    await updateTags(tx, some);
    await recordTimelines(
      tx,
      act,
      some.flatMap((change) => timelineOf(change, told)),
    );
    await recordChanges(
      tx,
      some.map((change) => ({ act, change: eventOf(change) })),
    );
  }
  const sums = new TallySums();
  for await (const some of inPieces(changes, MORE_AT_ONCE)) await countChanges(tx, some, sums);
  // Thousands change few counts. Last, as others write of the same counts meanwhile.
  for await (const rows of inPieces(sums.rows(), MORE_AT_ONCE)) await addTallyRows(tx, rows);
}

/** So many are written by statements of their own, which name what they have in common once. */
const MIN_ALIKE = 20;

/** @returns groups whose members change in the same way, and those that are in no large one */
async function findAlike(
  changes: readonly StateChange[],
): Promise<{ alike: StateChange[][]; others: StateChange[] }> {
  const groups = new Map<string, StateChange[]>();
  for await (const some of inPieces(changes, MORE_AT_ONCE))
    for (const change of some) {
      const key = whatChanges(change);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [change]);
      else group.push(change);
    }
  const all = [...groups.values()];
  return {
    alike: all.filter(({ length }) => length >= MIN_ALIKE),
    others: all.filter(({ length }) => length < MIN_ALIKE).flat(),
  };
}

/** @returns the same of those that change in the same way, and of no others */
function whatChanges({ held: { organizationId, state }, after }: StateChange): string {
  let text = String(organizationId);
  if (state.statusId !== after.statusId)
    text += ` status ${state.statusId} ${after.statusId} ${after.statusSetAt} ${after.closedAt}`;
  for (const [name, member] of EDITED)
    if (state[member] !== after[member]) text += ` ${name} ${JSON.stringify([state[member], after[member]])}`;
  const [tags, tagsAfter] = [String(state.tags), String(after.tags)];
  return tags === tagsAfter ? text : `${text} tags ${tags} ${tagsAfter}`;
}

const insertTagging = prepareInsertAlike(
  'vulnerability_taggings',
  { organization_id: 'int', tag_id: 'int' },
  { column: 'vulnerability_id', kind: 'int' },
);

/** Writes changes that are alike: an index whose columns stay is left alone, and texts are sent and read once. */
async function writeAlike(
  tx: Transaction,
  act: Act,
  group: readonly StateChange[],
  told: Telling,
): Promise<void> {
  const [first] = group as [StateChange];
  const { organizationId, state } = first.held;
  const { after } = first;
  const removed = state.tags.filter((tag) => !after.tags.includes(tag));
  const added = after.tags.filter((tag) => !state.tags.includes(tag));
  for await (const some of inPieces(group, MORE_AT_ONCE)) {
    const ids = some.map(({ held }) => held.id);
    await tx
      .updateTable('vulnerabilities')
      .set((eb) => ({
        ...columnsThatDiffer(first),
        updated_at: act.now,
        version: eb('version', '+', eb.lit(1)),
      }))
      .where(({ ref }) => isOneOf(tx, ref('id'), ids))
      .execute();
    if (removed.length > 0)
      await tx
        .deleteFrom('vulnerability_taggings')
        .where(({ ref }) => isOneOf(tx, ref('vulnerability_id'), ids))
        .where(({ ref }) => isOneOf(tx, ref('tag_id'), removed))
        .execute();
    for (const tag of added) await insertTagging(tx, [organizationId, tag], ids);
    for (const entry of timelineOf(first, told)) await recordTimelineOfEach(tx, act, entry, ids);
    await recordChangeOfEach(tx, act, eventOf(first), ids);
  }
}

function columnsThatDiffer({ held: { state }, after }: StateChange) {
  return {
    ...(state.statusId === after.statusId
      ? {}
      : { status_id: after.statusId, status_set_at: after.statusSetAt, closed_at: after.closedAt }),
    ...(state.severity === after.severity ? {} : { severity: after.severity }),
    ...(state.assigneeId === after.assigneeId ? {} : { assignee_id: after.assigneeId }),
    ...(state.dueOn === after.dueOn ? {} : { due_on: after.dueOn }),
  };
}

function eventOf(change: StateChange) {
  const { id, organizationId, state } = change.held;
  return {
    action: 'vulnerability.update' as const,
    object: ['vulnerability', id] as const,
    organizationId,
    before: sideOf(change, state),
    after: sideOf(change, change.after),
  };
}

async function updateRows(tx: Transaction, { now }: Act, changes: readonly StateChange[]): Promise<void> {
  const rows = changes.map(({ held: { id }, after }) => [
    id,
    after.statusId,
    after.statusSetAt,
    after.closedAt,
    after.severity,
    after.assigneeId,
    after.dueOn,
  ]);
  const int = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`;
  const text = (index: number) => sql`item.value ->> ${sql.lit(index)}`;
  await sql`update vulnerabilities set status_id = ${int(1)}, status_set_at = ${int(2)}, closed_at = ${int(3)},
      severity = ${text(4)}, assignee_id = ${int(5)}, due_on = ${text(6)}, updated_at = ${now}, version = version + 1
    from ${eachList(tx, rows)} where vulnerabilities.id = ${int(0)}`.execute(tx);
}

async function updateTags(tx: Transaction, changes: readonly StateChange[]): Promise<void> {
  const removed: [number, number][] = [];
  const added: [number, number, number][] = [];
  for (const { held, after } of changes) {
    const { id, organizationId, state } = held;
    for (const tag of state.tags) if (!after.tags.includes(tag)) removed.push([id, tag]);
    for (const tag of after.tags) if (!state.tags.includes(tag)) added.push([organizationId, id, tag]);
  }
  if (removed.length > 0) {
    await sql`delete from vulnerability_taggings where (vulnerability_id, tag_id) in (
      select cast(item.value ->> 0 as bigint), cast(item.value ->> 1 as bigint) from ${eachList(tx, removed)})`.execute(
      tx,
    );
  }
  await insertTaggings(tx, added);
}

/** Adds what the changes do to counts: once for those that do the same, as thousands do. */
async function countChanges(
  tx: Transaction,
  changes: readonly StateChange[],
  sums: TallySums,
): Promise<void> {
  const moved = changes.filter(
    ({ held, after }) => isClosed(held.state.statusId) !== isClosed(after.statusId),
  );
  const ids = moved.map(({ held }) => held.id);
  const assets = ids.length === 0 ? new Map() : await linksOf(tx, 'vulnerability_assets', 'asset_id', ids);
  const groups = new Map<string, { change: StateChange; times: number; assets: number[] }>();
  for (const change of changes) {
    const { held, after } = change;
    const { state } = held;
    const key = `${held.assessmentId} ${state.statusId} ${after.statusId} ${state.severity} ${after.severity} ${String(state.tags)} ${String(after.tags)}`;
    const group = groups.get(key) ?? { change, times: 0, assets: [] };
    groups.set(key, group);
    group.times += 1;
    group.assets.push(...(assets.get(held.id) ?? []));
  }
  for (const { change, times, assets: ofAll } of groups.values()) {
    const { held, after } = change;
    const { state } = held;
    const counted = ({ statusId, severity, tags }: State, others: readonly number[]) => ({
      organizationId: held.organizationId,
      assessmentId: held.assessmentId,
      statusId,
      severity,
      tags: tags.filter((tag) => !others.includes(tag)),
      assets: [],
    });
    sums.add(tallyDifferences(counted(state, after.tags), counted(after, state.tags)), times);
    sums.add(assetDifferences(ofAll, state.statusId, after.statusId));
  }
}

/** What entries tell of a status and of tags. */
interface Telling {
  status(id: number): object;
  tags(ids: readonly number[]): object;
}

/** The same object for the same status and the same tags, as thousands have them, so that it is made into text once. */
function tellingOnce(tagNames: ReadonlyMap<number, string>): Telling {
  const kept = new Map<string, object>();
  const once = (key: string, make: () => object): object => {
    let one = kept.get(key);
    if (one === undefined) kept.set(key, (one = make()));
    return one;
  };
  return {
    status: (id) => once(`status ${id}`, () => statusTold(id)),
    tags: (ids) =>
      once(`tags ${String(ids)}`, () => tagsTold(ids.map((id) => ({ id, name: tagNames.get(id) ?? '' })))),
  };
}

function timelineOf({ held, after }: StateChange, told: Telling): TimelineEntry[] {
  const { id, organizationId, state } = held;
  const of = { organizationId, vulnerabilityId: id };
  const entries: TimelineEntry[] = [];
  const edited = editedOf(state, after);
  if (edited !== undefined) entries.push({ ...of, kind: 'edited', before: edited[0], after: edited[1] });
  if (state.statusId !== after.statusId)
    entries.push({
      ...of,
      kind: 'status',
      before: told.status(state.statusId),
      after: told.status(after.statusId),
    });
  if (String(state.tags) !== String(after.tags))
    entries.push({ ...of, kind: 'tags', before: told.tags(state.tags), after: told.tags(after.tags) });
  return entries;
}

/** The members that are neither status nor tags, as far as they differ: before and after. */
function editedOf(before: State, after: State): [object, object] | undefined {
  const differing = EDITED.filter(([, member]) => before[member] !== after[member]);
  if (differing.length === 0) return undefined;
  const of = (state: State) => Object.fromEntries(differing.map(([name, member]) => [name, state[member]]));
  return [of(before), of(after)];
}

const EDITED = [
  ['severity', 'severity'],
  ['assignee_id', 'assigneeId'],
  ['due_on', 'dueOn'],
] as const;

/** One side of an audit event: the members that differ. */
function sideOf({ held: { state }, after }: StateChange, side: State): object {
  const members: Record<string, unknown> = {};
  if (state.statusId !== after.statusId) members['status_id'] = side.statusId;
  for (const [name, member] of EDITED) if (state[member] !== after[member]) members[name] = side[member];
  if (String(state.tags) !== String(after.tags)) members['tags'] = side.tags;
  return members;
}
