import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Act, Caller } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { eachList, holdingRows, isOneOf } from '../../db/portable.ts';
import { recordChanges } from '../shared/audit.ts';
import { listingWithin, reachOfAccount, reachParameters } from '../shared/reach.ts';
import { addTallyRows, TallySums } from '../shared/tallies.ts';
import { isClosed } from './catalogue.ts';
import { statusTold } from './reached-vulnerabilities.ts';
import { recordTimelines, type TimelineEntry } from './timeline.ts';
import { tagsTold } from './vulnerability-edits.ts';
import { tallyDifferences } from './vulnerability-tallies.ts';

/** What of a vulnerability is changed together with that of others. */
export interface State {
  statusId: number;
  statusSetAt: number;
  closedAt: number | null;
  severity: string;
  assigneeId: number | null;
  /** A day: `2026-11-22`. */
  dueOn: string | null;
  /** Ids, ascending. */
  tags: readonly number[];
}

/** One of many, as it is before they are changed. */
export interface Held {
  id: number;
  organizationId: number;
  assessmentId: number;
  version: number;
  state: State;
}

/** One of many, and what becomes of it. */
export interface StateChange {
  held: Held;
  after: State;
}

/** So many at once: what is written of them holds the event loop some milliseconds, and others are answered between. */
const AT_ONCE = 100;

/** @returns the list in pieces, with a turn of the event loop behind each */
export async function* inPieces<T>(list: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < list.length; start += AT_ONCE) {
    yield list.slice(start, start + AT_ONCE);
    await nextTurn();
  }
}

/**
 * Finds vulnerabilities that the caller reaches, and keeps others from changing them until the unit of work ends.
 * @param ids ascending, so that two who change many of the same wait for each other and do not lock each other out
 */
export async function holdVulnerabilities(
  tx: Transaction,
  caller: Caller,
  ids: readonly number[],
): Promise<Map<number, Held>> {
  const found = new Map<number, Held>();
  for await (const some of inPieces(ids)) {
    const rows = await tx
      .selectFrom('vulnerabilities')
      .select([
        'id',
        'organization_id',
        'assessment_id',
        'version',
        'status_id',
        'status_set_at',
        'closed_at',
        'severity',
        'assignee_id',
        'due_on',
      ])
      .where(({ ref }) => isOneOf(tx, ref('id'), some))
      .where(
        sql<SqlBool>`exists (select 1 from assessments where assessments.id = vulnerabilities.assessment_id
          and ${listingWithin(reachOfAccount(caller), reachParameters(caller))})`,
      )
      .orderBy('id')
      .modifyEnd(holdingRows(tx))
      .execute();
    const tags = await linksOf(tx, 'vulnerability_taggings', 'tag_id', some);
    for (const row of rows) {
      found.set(row.id, {
        id: row.id,
        organizationId: row.organization_id,
        assessmentId: row.assessment_id,
        version: row.version,
        state: {
          statusId: row.status_id,
          statusSetAt: row.status_set_at,
          closedAt: row.closed_at,
          severity: row.severity,
          assigneeId: row.assignee_id,
          dueOn: row.due_on,
          tags: tags.get(row.id) ?? [],
        },
      });
    }
  }
  return found;
}

/** @returns by vulnerability, the ids of what is linked with it, ascending */
async function linksOf(
  db: Reader,
  table: 'vulnerability_taggings' | 'vulnerability_assets',
  column: 'tag_id' | 'asset_id',
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ vulnerability_id: number; link: number }>`
    select vulnerability_id, ${sql.ref(column)} as link from ${sql.table(table)}
    where ${isOneOf(db, sql.ref<number>('vulnerability_id'), ids)} order by vulnerability_id, link`.execute(
    db,
  );
  const links = new Map<number, number[]>();
  for (const { vulnerability_id: id, link } of rows) {
    const some = links.get(id);
    if (some === undefined) links.set(id, [link]);
    else some.push(link);
  }
  return links;
}

/** @returns whether a change changes anything */
export function differs({ held: { state }, after }: StateChange): boolean {
  return (
    state.statusId !== after.statusId ||
    state.severity !== after.severity ||
    state.assigneeId !== after.assigneeId ||
    state.dueOn !== after.dueOn ||
    String(state.tags) !== String(after.tags)
  );
}

const insertTaggings = prepareInsert('vulnerability_taggings', {
  organization_id: 'int',
  vulnerability_id: 'int',
  tag_id: 'int',
});

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
  const sums = new TallySums();
  const told = tellingOnce(tagNames);
  for await (const some of inPieces(changes)) {
    await updateRows(tx, act, some);
    await updateTags(tx, some);
    await countChanges(tx, some, sums);
    await recordTimelines(
      tx,
      act,
      some.flatMap((change) => timelineOf(change, told)),
    );
    await recordChanges(
      tx,
      some.map((change) => ({
        act,
        change: {
          action: 'vulnerability.update' as const,
          object: ['vulnerability', change.held.id] as const,
          organizationId: change.held.organizationId,
          before: sideOf(change, change.held.state),
          after: sideOf(change, change.after),
        },
      })),
    );
  }
  // Thousands change few counts. Last, as others write of the same counts meanwhile.
  for await (const rows of inPieces(sums.rows())) await addTallyRows(tx, rows);
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
  // A tag that somebody deletes at the same time breaks the reference to it: the unit of work is then run again.
  await insertTaggings(tx, added);
}

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
  for (const { held, after } of changes) {
    const counted = ({ statusId, severity, tags }: State, others: readonly number[]) => ({
      organizationId: held.organizationId,
      assessmentId: held.assessmentId,
      statusId,
      severity,
      tags: tags.filter((tag) => !others.includes(tag)),
      assets: assets.get(held.id) ?? [],
    });
    const { state } = held;
    sums.add(tallyDifferences(counted(state, after.tags), counted(after, state.tags)));
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
