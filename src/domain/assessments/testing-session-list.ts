import { sql, type SqlBool } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { groupBy } from '../shared/group-by.ts';
import { loadUserRefs, type UserRef } from '../shared/user-refs.ts';
import { type Filter, integerFilter, sinceFilter, textFilter, untilFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import {
  inAccessibleOrganization,
  assessmentIsVisible,
  visibilityOf,
  visibilityParameters,
} from '../shared/visibility.ts';
import { isSessionRunning, MAX_SESSION_DURATION } from './testing-sessions.ts';

/** Times are milliseconds since 1970. */
export interface TestingSessionView {
  id: number;
  version: number;
  /** A uid. */
  assessment: string;
  tester: { id: number; uid: string; name: string | null; email: string };
  startedAt: number;
  /** `null` while it runs. */
  endedAt: number | null;
  /** Two decimals; until now while it runs. */
  hours: number;
  note: string;
  /** Whether it was corrected after it had been entered. */
  edited: boolean;
  /** Oldest first; absent unless they were requested. */
  edits?: TestingSessionEdit[];
}

/** The fields of a session that can be corrected. Times are milliseconds since 1970. */
export interface SessionFields {
  started_at: number;
  ended_at: number | null;
  note: string;
}

/** A correction of a session, with the fields that changed. */
export interface TestingSessionEdit {
  at: number;
  /** `null` if no account corrected it, or the account was deleted. */
  user: UserRef | null;
  before: Partial<SessionFields>;
  after: Partial<SessionFields>;
}

const visibleSessions = (db: ReadConnection, caller: Caller) => {
  const [visibility, parameters] = [visibilityOf(caller), visibilityParameters(caller)];
  return (
    db
      .selectFrom('testing_sessions')
      .innerJoin('assessments', 'assessments.id', 'testing_sessions.assessment_id')
      .innerJoin('users', 'users.id', 'testing_sessions.tester_id')
      .select([
        'testing_sessions.id',
        'testing_sessions.version',
        'assessments.uid as assessment',
        'users.id as tester_id',
        'users.uid as tester_uid',
        'users.name as tester_name',
        'users.email as tester_email',
        'testing_sessions.started_at',
        'testing_sessions.ended_at',
        'testing_sessions.note',
      ])
      // Does not read the notes themselves.
      .select(
        sql<number>`coalesce((select sum(octet_length(edit.before) + octet_length(edit.after))
          from testing_session_edits as edit where edit.session_id = testing_sessions.id), 0)`.as(
          'edit_bytes',
        ),
      )
      // Repeated on the sessions, so that an index yields those of an organization in order.
      .where(({ ref }) =>
        inAccessibleOrganization(visibility, ref('testing_sessions.organization_id'), parameters),
      )
      .where(assessmentIsVisible(visibility, parameters))
  );
};

type SessionRow = Awaited<ReturnType<ReturnType<typeof visibleSessions>['executeTakeFirstOrThrow']>>;

/** The sessions of visible assessments (operations 41 and 48). */
export const testingSessionList = defineList({
  name: 'testing-sessions',
  rows: ({ db, caller }) => visibleSessions(db, caller),
  id: 'testing_sessions.id',
  organization: 'testing_sessions.organization_id',
  filters: {
    assessmentId: textFilter('assessments.uid'),
    testerId: integerFilter('testing_sessions.tester_id'),
    running: {
      kind: 'flag',
      where: ({ now }, running) => {
        const condition = isSessionRunning('testing_sessions', now);
        return running ? condition : sql<SqlBool>`not ${condition}`;
      },
    },
    since: sinceFilter('testing_sessions.started_at'),
    until: untilFilter('testing_sessions.started_at'),
    withEdits: { kind: 'flag' } as Filter<'flag'>,
  },
  sorts: { startedAt: { column: 'testing_sessions.started_at', type: 'integer' } },
  // Each edit can have two notes, and a session many edits.
  batchSize: 20,
  bytesOf: ({ edit_bytes: bytes }) => bytes,
  async hydrate({ db, now }, rows, { withEdits = false }) {
    const views = rows.map((row) => toView(row, now));
    if (!withEdits) return views;
    const editsOf = await loadEdits(
      db,
      views.flatMap(({ id, edited }) => (edited ? [id] : [])),
    );
    return views.map((view) => ({ ...view, edits: editsOf.get(view.id) ?? [] }));
  },
});

/** @throws DomainError `not-found` */
export async function readTestingSession(
  db: ReadConnection,
  caller: Caller,
  id: number,
  now: number,
): Promise<TestingSessionView> {
  const row = await visibleSessions(db, caller).where('testing_sessions.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('testing session');
  return toView(row, now);
}

function toView(row: SessionRow, now: number): TestingSessionView {
  const latest = row.started_at + MAX_SESSION_DURATION;
  // An overdue session has ended, even before the job records it.
  const endedAt = row.ended_at ?? (latest <= now ? latest : null);
  const milliseconds = Math.max(0, (endedAt ?? now) - row.started_at);
  return {
    id: row.id,
    version: row.version,
    assessment: row.assessment,
    tester: { id: row.tester_id, uid: row.tester_uid, name: row.tester_name, email: row.tester_email },
    startedAt: row.started_at,
    endedAt,
    hours: Math.round(milliseconds / 36_000) / 100,
    note: row.note,
    edited: row.edit_bytes > 0,
  };
}

async function loadEdits(
  db: ReadConnection,
  ids: readonly number[],
): Promise<ReadonlyMap<number, TestingSessionEdit[]>> {
  const rows = await db
    .selectFrom('testing_session_edits')
    .select(['session_id', 'edited_at', 'user_id', 'before', 'after'])
    .where(({ ref }) => inList(db, ref('session_id'), ids))
    .orderBy('session_id')
    .orderBy('id')
    .execute();
  const userOf = await loadUserRefs(
    db,
    rows.map((row) => row.user_id),
  );
  return groupBy(
    rows,
    (row) => row.session_id,
    (row) => ({
      at: row.edited_at,
      user: userOf(row.user_id),
      before: JSON.parse(row.before) as Partial<SessionFields>,
      after: JSON.parse(row.after) as Partial<SessionFields>,
    }),
  );
}
