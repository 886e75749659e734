import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { type ChangeBy, recordChange, recordChanges } from '../shared/audit.ts';
import { invalid, missing } from '../shared/failure.ts';
import { ASSESSMENT_UID } from './assessments.ts';

/** How long a session runs at most, in milliseconds: one that nobody stops ends by itself. */
export const LONGEST_SESSION = 24 * 3_600_000;

/**
 * @param alias of `testing_sessions` in the query
 * @param now milliseconds since 1970, or its placeholder
 * @returns when a session ended, or until when it has run so far
 */
export function endOf(alias: string, now: number): RawBuilder<number> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<number>`coalesce(${end}, case when ${start} + ${sql.lit(LONGEST_SESSION)} < ${now}
    then ${start} + ${sql.lit(LONGEST_SESSION)} else cast(${now} as bigint) end)`;
}

/** @returns the condition that a session runs; one whose time is up does not, even before a job has ended it */
export function isRunning(alias: string, now: number): RawBuilder<SqlBool> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<SqlBool>`(${end} is null and ${start} + ${sql.lit(LONGEST_SESSION)} > ${now})`;
}

/**
 * Ends the sessions that run on an assessment.
 * @param assessment that this unit of work holds, so that none is started meanwhile
 */
export async function endSessionsOf(
  tx: Transaction,
  act: Act,
  assessment: { id: number; organizationId: number },
): Promise<void> {
  const ended = await tx
    .updateTable('testing_sessions')
    .set((eb) => ({
      ended_at: sql<number>`case when started_at > ${act.now} then started_at
        when started_at + ${sql.lit(LONGEST_SESSION)} < ${act.now} then started_at + ${sql.lit(LONGEST_SESSION)}
        else cast(${act.now} as bigint) end`,
      version: eb('version', '+', 1),
    }))
    .where('assessment_id', '=', assessment.id)
    .where('ended_at', 'is', null)
    .returning(['id', 'ended_at'])
    .execute();
  await recordChanges(
    tx,
    ended.map(({ id, ended_at }): ChangeBy => ({
      act,
      change: {
        action: 'testing-session.update',
        object: ['testing-session', id],
        organizationId: assessment.organizationId,
        before: { ended_at: null },
        after: { ended_at },
      },
    })),
  );
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
      organization_id: assessment.organization_id,
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
