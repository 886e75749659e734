import { sql } from 'kysely';
import type { Act, Caller } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { prepare } from '../../db/prepared.ts';
import { recordChange } from '../shared/audit.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { invalid, missing } from '../shared/failure.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/reach.ts';

const MILLISECONDS_PER_HUNDREDTH = 36_000;

/** The testing hours of an assessment; times in milliseconds since 1970. */
export interface TestingHours {
  /** Hours, two decimals. */
  total: number;
  from: number;
  to: number;
}

interface Totals {
  created_at: number;
  /** `null` without a session. */
  first: number | null;
  last: number | null;
  running: number;
  milliseconds: number;
}

/**
 * What the sessions of an assessment come to. A running one lasts until now. Testers work side by side and each of
 * their hours counts; one tester's sessions that overlap are one stretch of time, so of each session only what comes
 * after the end of all that tester's earlier ones counts.
 */
const totalsOf = perReach((reach) =>
  prepare<ReachParameters & { uid: string; now: number }, Totals>((db, p) =>
    db
      .selectFrom('assessments')
      .leftJoin(
        ({ selectFrom }) =>
          selectFrom('testing_sessions as session')
            .innerJoin('assessments as tested', 'tested.id', 'session.assessment_id')
            .select([
              'session.assessment_id',
              'session.started_at',
              'session.ended_at',
              sql<number>`coalesce(session.ended_at, ${p.now})`.as('until'),
              sql<number>`coalesce(max(coalesce(session.ended_at, ${p.now})) over (
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
        sql<number>`count(*) filter (where stretch.until is not null and stretch.ended_at is null)`.as(
          'running',
        ),
        sql<number>`cast(coalesce(sum(case
          when stretch.until <= stretch.covered or stretch.until <= stretch.started_at then 0
          when stretch.covered > stretch.started_at then stretch.until - stretch.covered
          else stretch.until - stretch.started_at end), 0) as bigint)`.as('milliseconds'),
      ])
      .where('assessments.uid', '=', p.uid)
      .where(listingWithin(reach, p))
      .groupBy(['assessments.id', 'assessments.created_at']),
  ),
);

/**
 * Adds up the hours that testers logged on an assessment.
 * @param uid of any form
 * @throws Failure `missing` for an assessment that the caller has no access to
 */
export async function testingHours(
  db: Reader,
  caller: Caller,
  uid: string,
  now: number,
): Promise<TestingHours> {
  const [totals] = ASSESSMENT_UID.test(uid)
    ? await totalsOf(reachOfAccount(caller))(db, { ...reachParameters(caller), uid, now })
    : [];
  if (totals === undefined) throw missing('assessment');
  const first = totals.first ?? totals.created_at;
  const last = totals.running > 0 ? now : (totals.last ?? totals.created_at);
  return {
    total: Math.round(totals.milliseconds / MILLISECONDS_PER_HUNDREDTH) / 100,
    from: first,
    to: last,
  };
}

/** Time that a tester worked on an assessment; milliseconds since 1970. */
export interface TestingSession {
  /** The uid of the assessment. */
  assessment: string;
  testerId: number;
  startedAt: number;
  /** `null` while it runs. */
  endedAt: number | null;
}

/**
 * Logs a session of a tester, who is platform staff or a user of the assessment's organization.
 * @throws Failure `missing` for the assessment or the tester, `invalid` for a session that ends before it starts
 */
export async function logTestingSession(
  tx: Transaction,
  act: Act,
  { assessment: uid, testerId, startedAt, endedAt }: TestingSession,
): Promise<{ id: number }> {
  if (endedAt !== null && endedAt < startedAt) {
    throw invalid({ property: 'endedAt', message: 'must not be before startedAt', value: endedAt });
  }
  const assessment = ASSESSMENT_UID.test(uid)
    ? await tx
        .selectFrom('assessments')
        .select(['id', 'organization_id'])
        .where('uid', '=', uid)
        .executeTakeFirst()
    : undefined;
  if (assessment === undefined) throw missing('assessment');
  const tester = await tx
    .selectFrom('users')
    .select(['uid', 'organization_id'])
    .where('id', '=', testerId)
    .executeTakeFirst();
  const foreign = tester?.organization_id !== null && tester?.organization_id !== assessment.organization_id;
  if (tester === undefined || foreign) throw missing('tester');
  const session = await tx
    .insertInto('testing_sessions')
    .values({
      assessment_id: assessment.id,
      tester_id: testerId,
      started_at: startedAt,
      ended_at: endedAt,
      created_at: act.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordChange(tx, act, {
    action: 'testing-session.log',
    object: ['testing-session', session.id],
    organizationId: assessment.organization_id,
    before: null,
    after: { assessment: uid, tester: tester.uid, started_at: startedAt, ended_at: endedAt },
  });
  return session;
}
