import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { prepare } from '../../db/prepared-queries.ts';
import type { Filter, Reading } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type NamedUser, nameUsers } from '../users/user-refs.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/visibility.ts';
import type { TimelineKind } from './timeline.ts';

/** An entry as it is told; times in milliseconds since 1970. */
export interface ToldEntry {
  /** 0 for the first, which every vulnerability has. */
  id: number;
  at: number;
  kind: TimelineKind;
  user: NamedUser | null;
  before: object | null;
  after: object | null;
  /** `text` is `null` once it is removed. */
  comment: { id: number; text: string | null } | null;
}

const ofVulnerability: Filter<'count'> = {
  kind: 'count',
  where: (_reading, id) => sql<SqlBool>`${sql.ref('entries.vulnerability_id')} = ${id}`,
};

/** What was done to the vulnerability that `vulnerabilityId` names, which is to be within reach (operation 31). */
export const timelineList = defineList({
  name: 'timeline',
  rows: (reading) =>
    reading.db
      .selectFrom(entriesFor(reading).as('entries'))
      .leftJoin('comments', (join) =>
        join
          .onRef('comments.id', '=', 'entries.comment_id')
          .onRef('comments.vulnerability_id', '=', 'entries.vulnerability_id'),
      )
      .select([
        'entries.id',
        'entries.at',
        'entries.kind',
        'entries.user_id',
        'entries.before',
        'entries.after',
        'entries.comment_id',
        'comments.text as comment_text',
      ]),
  id: 'entries.id',
  organization: 'entries.organization_id',
  filters: { vulnerabilityId: ofVulnerability },
  orders: { at: { by: 'entries.at', type: 'integer' } },
  descendingIds: true,
  async items({ db, caller }, rows): Promise<ToldEntry[]> {
    const read = (text: string | null) => (text === null ? null : (JSON.parse(text) as Told));
    const told = rows.map(({ before, after }) => ({ before: read(before), after: read(after) }));
    const [userOf, reached] = await Promise.all([
      nameUsers(
        db,
        rows.map((row) => row.user_id),
      ),
      reachedAmong(
        db,
        caller,
        told.flatMap(({ before, after }) => [before?.assessment ?? [], after?.assessment ?? []].flat()),
      ),
    ]);
    return rows.map((row, index) => ({
      id: row.id,
      at: row.at,
      kind: row.kind as TimelineKind,
      user: userOf(row.user_id),
      before: within(told[index]?.before ?? null, reached),
      after: within(told[index]?.after ?? null, reached),
      comment: row.comment_id === null ? null : { id: row.comment_id, text: row.comment_text },
    }));
  },
  piece: 50,
});

/** One side of an entry. Where it tells of a move, it names an assessment by its uid. */
interface Told {
  assessment?: string;
}

/** @returns a side without an assessment that the reader does not reach */
function within(told: Told | null, reached: ReadonlySet<string>): object | null {
  if (told?.assessment === undefined || reached.has(told.assessment)) return told;
  const { assessment: _unreached, ...others } = told;
  return others;
}

const reachedUids = perReach((reach) =>
  prepare<ReachParameters & { uids: readonly string[] }, { uid: string }>((db, p) =>
    db
      .selectFrom('assessments')
      .select('uid')
      .where((eb) => isOneOf(db, eb.ref('uid'), p.uids))
      .where(listingWithin(reach, p)),
  ),
);

async function reachedAmong(
  db: Reader,
  caller: Caller,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (uids.length === 0) return new Set();
  const wanted = { ...reachParameters(caller), uids: [...new Set(uids)] };
  const rows = await reachedUids(reachOfAccount(caller))(db, wanted);
  return new Set(rows.map(({ uid }) => uid));
}

/** That it was created is told by its own row. */
function entriesFor({ db, caller }: Reading) {
  const nothing = sql<string | null>`null`;
  const created = db
    .selectFrom('vulnerabilities')
    .select([
      sql<number>`0`.as('id'),
      'vulnerabilities.organization_id',
      'vulnerabilities.id as vulnerability_id',
      'vulnerabilities.created_at as at',
      sql<string>`'created'`.as('kind'),
      'vulnerabilities.created_by as user_id',
      nothing.as('before'),
      nothing.as('after'),
      sql<number | null>`cast(null as bigint)`.as('comment_id'),
    ]);
  const entries = db
    .selectFrom('timeline_entries')
    .select([
      'id',
      'organization_id',
      'vulnerability_id',
      'at',
      'kind',
      'user_id',
      'before',
      'after',
      'comment_id',
    ]);
  return created.unionAll(caller.staff ? entries : entries.where('internal', '=', 0));
}
