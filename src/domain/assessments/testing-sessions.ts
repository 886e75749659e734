import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller, ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { type AttributedChange, recordEvent, recordEvents } from '../audit/record-event.ts';
import { DomainError } from '../shared/errors.ts';

/** Milliseconds. A job ends sessions that run longer. */
export const MAX_SESSION_DURATION = 24 * 3_600_000;

/**
 * @param alias the alias of `testing_sessions`
 * @param now milliseconds since 1970
 * @returns the end of a session; now, or its maximum, while it runs
 */
export function sessionEnd(alias: string, now: number): RawBuilder<number> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<number>`coalesce(${end}, case when ${start} + ${sql.lit(MAX_SESSION_DURATION)} < ${now}
    then ${start} + ${sql.lit(MAX_SESSION_DURATION)} else cast(${now} as bigint) end)`;
}

/** An overdue session does not run, even before the job ends it. */
export function isSessionRunning(alias: string, now: number): RawBuilder<SqlBool> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<SqlBool>`(${end} is null and ${start} + ${sql.lit(MAX_SESSION_DURATION)} > ${now})`;
}

/**
 * Ends the running sessions of an assessment.
 * @param assessment locked, so that no session starts meanwhile
 */
export async function endTestingSessions(
  tx: Transaction,
  by: ChangeContext,
  assessment: { id: number },
): Promise<void> {
  const running = sql<SqlBool>`ended_at is null and assessment_id = ${assessment.id}`;
  await endSessions(tx, by, running);
}

interface TesterOnAssessment {
  testerId: number;
  assessmentId: number;
}

/**
 * Ends overdue sessions at their maximum duration.
 * @param which a tester and an assessment whose session to end, or the maximum number of sessions of anyone to end
 * @returns the number of ended sessions
 */
export function endOverdueTestingSessions(
  tx: Transaction,
  by: ChangeContext,
  which: TesterOnAssessment | number,
): Promise<number> {
  const isOverdue = sql<SqlBool>`ended_at is null and started_at <= ${by.now - MAX_SESSION_DURATION}`;
  return endSessions(
    tx,
    by,
    typeof which === 'number'
      ? sql<SqlBool>`id in (select id from testing_sessions where ${isOverdue} order by started_at, id limit ${which})`
      : sql<SqlBool>`${isOverdue} and tester_id = ${which.testerId} and assessment_id = ${which.assessmentId}`,
  );
}

async function endSessions(
  tx: Transaction,
  by: ChangeContext,
  condition: RawBuilder<SqlBool>,
): Promise<number> {
  const ended = await tx
    .updateTable('testing_sessions')
    .set((eb) => ({
      ended_at: sql<number>`case when started_at > ${by.now} then started_at
        when started_at + ${sql.lit(MAX_SESSION_DURATION)} < ${by.now} then started_at + ${sql.lit(MAX_SESSION_DURATION)}
        else cast(${by.now} as bigint) end`,
      version: eb('version', '+', 1),
    }))
    .where(condition)
    .where('ended_at', 'is', null)
    .returning(['id', 'organization_id', 'ended_at'])
    .execute();
  await recordEvents(
    tx,
    ended.map(({ id, organization_id: organizationId, ended_at }): AttributedChange => ({
      by,
      change: {
        action: 'testing-session.update',
        object: ['testing-session', id],
        organizationId,
        before: { ended_at: null },
        after: { ended_at },
      },
    })),
  );
  return ended.length;
}

/** Times are milliseconds since 1970. */
export interface NewTestingSession {
  assessment: { id: number; uid: string; organizationId: number };
  tester: { id: number; uid: string; staff: number };
  startedAt: number;
  /** `null` while it runs. */
  endedAt: number | null;
  note: string;
}

/** @returns `undefined` when another session of the tester runs on the assessment */
export async function insertTestingSession(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { assessment, tester, startedAt, endedAt, note }: NewTestingSession,
  action: 'testing-session.start' | 'testing-session.log',
): Promise<{ id: number } | undefined> {
  const session = await tx
    .insertInto('testing_sessions')
    .values({
      organization_id: assessment.organizationId,
      assessment_id: assessment.id,
      tester_id: tester.id,
      entered_by: by.actor.userId,
      by_staff: by.actor.staff || tester.staff === 1 ? 1 : 0,
      started_at: startedAt,
      ended_at: endedAt,
      note,
      created_at: by.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['tester_id', 'assessment_id']).where('ended_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (session === undefined) return undefined;
  await recordEvent(tx, by, {
    action,
    object: ['testing-session', session.id],
    organizationId: assessment.organizationId,
    before: null,
    after: {
      assessment: assessment.uid,
      tester: tester.uid,
      started_at: startedAt,
      ended_at: endedAt,
      note,
    },
  });
  return session;
}

export function sessionRunningError(): DomainError {
  return new DomainError('session-running');
}
