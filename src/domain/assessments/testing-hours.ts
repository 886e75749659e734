import { sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { sessionEnd, isSessionRunning } from './testing-sessions.ts';
import { notFound } from '../shared/errors.ts';
import {
  assessmentIsVisible,
  memoizeByVisibility,
  visibilityOf,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';

const MILLISECONDS_PER_HUNDREDTH = 36_000;

/** Times are milliseconds since 1970. */
export interface TestingHours {
  /** Hours, two decimals. */
  total: number;
  from: number;
  to: number;
}

interface Totals {
  created_at: number;
  /** `null` without sessions. */
  first: number | null;
  last: number | null;
  running: number;
  milliseconds: number;
}

/**
 * Adds up the sessions of an assessment; a running one lasts until now. The hours of different testers add up.
 * Overlapping sessions of one tester count once: of each session, only the part after the end of all earlier ones.
 */
const selectTotals = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { uid: string; now: number }, Totals>((db, p) =>
    db
      .selectFrom('assessments')
      .leftJoin(
        ({ selectFrom }) =>
          selectFrom('testing_sessions as session')
            .innerJoin('assessments as tested', 'tested.id', 'session.assessment_id')
            .select([
              'session.assessment_id',
              'session.started_at',
              sessionEnd('session', p.now).as('until'),
              isSessionRunning('session', p.now).as('running'),
              sql<number>`coalesce(max(${sessionEnd('session', p.now)}) over (
                partition by session.tester_id order by session.started_at, session.id
                rows between unbounded preceding and 1 preceding), session.started_at)`.as('covered'),
            ])
            .where('tested.uid', '=', p.uid)
            .as('stretch'),
        (join) => join.onRef('stretch.assessment_id', '=', 'assessments.id'),
      )
      .select(({ fn }) => [
        'assessments.created_at',
        fn.min('stretch.started_at').as('first'),
        fn.max('stretch.until').as('last'),
        sql<number>`count(*) filter (where stretch.running)`.as('running'),
        sql<number>`cast(coalesce(sum(case
          when stretch.until <= stretch.covered or stretch.until <= stretch.started_at then 0
          when stretch.covered > stretch.started_at then stretch.until - stretch.covered
          else stretch.until - stretch.started_at end), 0) as bigint)`.as('milliseconds'),
      ])
      .where('assessments.uid', '=', p.uid)
      .where(assessmentIsVisible(visibility, p))
      .groupBy(['assessments.id', 'assessments.created_at']),
  ),
);

/**
 * Reads the testing hours of an assessment.
 * @param uid a uid in any format, valid or not
 * @throws DomainError `not-found`
 */
export async function readTestingHours(
  db: ReadConnection,
  caller: Caller,
  uid: string,
  now: number,
): Promise<TestingHours> {
  const [totals] = ASSESSMENT_UID.test(uid)
    ? await selectTotals(visibilityOf(caller))(db, { ...visibilityParameters(caller), uid, now })
    : [];
  if (totals === undefined) throw notFound('assessment');
  const first = totals.first ?? totals.created_at;
  const last = totals.running > 0 ? now : (totals.last ?? totals.created_at);
  return {
    total: Math.round(totals.milliseconds / MILLISECONDS_PER_HUNDREDTH) / 100,
    from: first,
    to: last,
  };
}
