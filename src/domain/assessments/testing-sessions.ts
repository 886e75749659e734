import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { type AttributedChange, recordEvent, recordEvents } from '../audit/record-event.ts';
import { DomainError } from '../shared/errors.ts';

/** How long a session runs at most, in milliseconds: one that nobody stops ends by itself. */
export const MAX_SESSION_DURATION = 24 * 3_600_000;

/**
 * @param alias of `testing_sessions` in the query
 * @param now milliseconds since 1970, or its placeholder
 * @returns when a session ended, or until when it has run so far
 */
export function sessionEnd(alias: string, now: number): RawBuilder<number> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<number>`coalesce(${end}, case when ${start} + ${sql.lit(MAX_SESSION_DURATION)} < ${now}
    then ${start} + ${sql.lit(MAX_SESSION_DURATION)} else cast(${now} as bigint) end)`;
}

/** @returns the condition that a session runs; one whose time is up does not, even before a job has ended it */
export function isSessionRunning(alias: string, now: number): RawBuilder<SqlBool> {
  const [start, end] = [sql.ref(`${alias}.started_at`), sql.ref(`${alias}.ended_at`)];
  return sql<SqlBool>`(${end} is null and ${start} + ${sql.lit(MAX_SESSION_DURATION)} > ${now})`;
}

/**
 * Ends the sessions that run on an assessment.
 * @param assessment that this unit of work holds, so that none is started meanwhile
 */
export async function endTestingSessions(
  tx: Transaction,
  act: Attribution,
  assessment: { id: number },
): Promise<void> {
  const running = sql<SqlBool>`ended_at is null and assessment_id = ${assessment.id}`;
  await endSessions(tx, act, running);
}

/** Of these, one session is ended at most. */
interface TesterOnAssessment {
  testerId: number;
  assessmentId: number;
}

/**
 * Ends sessions whose time is up, when that was.
 * @param which of them: those of a tester on an assessment, or as many as this
 * @returns how many there were
 */
export function endOverdueTestingSessions(
  tx: Transaction,
  act: Attribution,
  which: TesterOnAssessment | number,
): Promise<number> {
  const isOverdue = sql<SqlBool>`ended_at is null and started_at <= ${act.now - MAX_SESSION_DURATION}`;
  return endSessions(
    tx,
    act,
    typeof which === 'number'
      ? sql<SqlBool>`id in (select id from testing_sessions where ${isOverdue} order by started_at, id limit ${which})`
      : sql<SqlBool>`${isOverdue} and tester_id = ${which.testerId} and assessment_id = ${which.assessmentId}`,
  );
}

async function endSessions(
  tx: Transaction,
  act: Attribution,
  condition: RawBuilder<SqlBool>,
): Promise<number> {
  const ended = await tx
    .updateTable('testing_sessions')
    .set((eb) => ({
      ended_at: sql<number>`case when started_at > ${act.now} then started_at
        when started_at + ${sql.lit(MAX_SESSION_DURATION)} < ${act.now} then started_at + ${sql.lit(MAX_SESSION_DURATION)}
        else cast(${act.now} as bigint) end`,
      version: eb('version', '+', 1),
    }))
    .where(condition)
    .where('ended_at', 'is', null)
    .returning(['id', 'organization_id', 'ended_at'])
    .execute();
  await recordEvents(
    tx,
    ended.map(({ id, organization_id: organizationId, ended_at }): AttributedChange => ({
      by: act,
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

/** A session to be made; times in milliseconds since 1970. */
export interface NewTestingSession {
  assessment: { id: number; uid: string; organizationId: number };
  tester: { id: number; uid: string };
  startedAt: number;
  /** `null` while it runs. */
  endedAt: number | null;
  note: string;
}

/** @returns `undefined` for one that would run beside another of the tester on the assessment */
export async function insertTestingSession(
  tx: Transaction,
  act: Attribution,
  { assessment, tester, startedAt, endedAt, note }: NewTestingSession,
  action: 'testing-session.start' | 'testing-session.log',
): Promise<{ id: number } | undefined> {
  const session = await tx
    .insertInto('testing_sessions')
    .values({
      organization_id: assessment.organizationId,
      assessment_id: assessment.id,
      tester_id: tester.id,
      started_at: startedAt,
      ended_at: endedAt,
      note,
      created_at: act.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['tester_id', 'assessment_id']).where('ended_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (session === undefined) return undefined;
  await recordEvent(tx, act, {
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

/** @returns why a session cannot run */
export function sessionRunningError(): DomainError {
  return new DomainError('conflict', { code: 'session-running' });
}
