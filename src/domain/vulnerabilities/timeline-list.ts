import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import type { Filter, ListContext } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import {
  assessmentIsVisible,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import type { TimelineKind } from './timeline.ts';

/** Times are milliseconds since 1970. */
export interface TimelineEntryView {
  /** 0 for the entry `created`. */
  id: number;
  at: number;
  kind: TimelineKind;
  user: UserRef | null;
  before: object | null;
  after: object | null;
  /** `text` is `null` for a deleted comment. */
  comment: { id: number; text: string | null } | null;
}

const byVulnerability: Filter<'count'> = {
  kind: 'count',
  where: (_listContext, id) => sql<SqlBool>`${sql.ref('entries.vulnerability_id')} = ${id}`,
};

/** The timeline of a vulnerability (operation 31). The caller checks that `vulnerabilityId` is visible. */
export const timelineList = defineList({
  name: 'timeline',
  rows: (listContext) =>
    listContext.db
      .selectFrom(selectEntries(listContext).as('entries'))
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
        'entries.import_id',
        'comments.text as comment_text',
      ]),
  id: 'entries.id',
  organization: 'entries.organization_id',
  filters: { vulnerabilityId: byVulnerability },
  sorts: { at: { column: 'entries.at', type: 'integer' } },
  descendingIds: true,
  async hydrate({ db, caller }, rows): Promise<TimelineEntryView[]> {
    const read = (text: string | null) => (text === null ? null : (JSON.parse(text) as Snapshot));
    const snapshots = rows.map(({ before, after, import_id }) => ({
      before: read(before),
      after: import_id === null ? read(after) : { ...read(after), import_id },
    }));
    const [userOf, visible] = await Promise.all([
      loadUserRefs(
        db,
        rows.map((row) => row.user_id),
      ),
      filterVisible(
        db,
        caller,
        snapshots.flatMap(({ before, after }) => [before?.assessment ?? [], after?.assessment ?? []].flat()),
      ),
    ]);
    return rows.map((row, index) => ({
      id: row.id,
      at: row.at,
      kind: row.kind as TimelineKind,
      user: userOf(row.user_id),
      before: hideInvisibleAssessment(snapshots[index]?.before ?? null, visible),
      after: hideInvisibleAssessment(snapshots[index]?.after ?? null, visible),
      comment: row.comment_id === null ? null : { id: row.comment_id, text: row.comment_text },
    }));
  },
  batchSize: 50,
});

/** One side of an entry. A move to another assessment names it by uid. */
interface Snapshot {
  assessment?: string;
}

/** Removes an assessment that the reader cannot see. */
function hideInvisibleAssessment(snapshot: Snapshot | null, visible: ReadonlySet<string>): object | null {
  if (snapshot?.assessment === undefined || visible.has(snapshot.assessment)) return snapshot;
  const { assessment: _invisible, ...visibleFields } = snapshot;
  return visibleFields;
}

const selectVisibleUids = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { uids: readonly string[] }, { uid: string }>((db, p) =>
    db
      .selectFrom('assessments')
      .select('uid')
      .where((eb) => inList(db, eb.ref('uid'), p.uids))
      .where(assessmentIsVisible(visibility, p)),
  ),
);

async function filterVisible(
  db: ReadConnection,
  caller: Caller,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (uids.length === 0) return new Set();
  const parameters = { ...visibilityParameters(caller), uids: [...new Set(uids)] };
  const rows = await selectVisibleUids(visibilityOf(caller))(db, parameters);
  return new Set(rows.map(({ uid }) => uid));
}

/** The entry `created` comes from the vulnerability itself. */
function selectEntries({ db, caller }: ListContext) {
  const noValue = sql<string | null>`null`;
  const created = db
    .selectFrom('vulnerabilities')
    .select([
      sql<number>`0`.as('id'),
      'vulnerabilities.organization_id',
      'vulnerabilities.id as vulnerability_id',
      'vulnerabilities.created_at as at',
      sql<string>`'created'`.as('kind'),
      'vulnerabilities.created_by as user_id',
      noValue.as('before'),
      noValue.as('after'),
      sql<number | null>`cast(null as bigint)`.as('comment_id'),
      sql<number | null>`cast(null as bigint)`.as('import_id'),
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
      'import_id',
    ]);
  return created.unionAll(caller.staff ? entries : entries.where('internal', '=', 0));
}
