import { accessByPair } from './assessment-access.ts';
import { type Attribution, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { lockAssessment, type VisibleAssessment, requireAssessment } from './find-assessment.ts';
import { readTestingSession, type TestingSessionView } from './testing-session-list.ts';
import {
  endOverdueTestingSessions,
  insertTestingSession,
  MAX_SESSION_DURATION,
  sessionRunningError,
} from './testing-sessions.ts';

/** How far ahead of ours, in milliseconds, a clock may be: such a time counts as now. */
const CLOCK_SKEW = 60_000;

/** A session that somebody starts, without times, or logs, with both; milliseconds since 1970. */
export interface TestingSessionInput {
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  note?: string | undefined;
  /** Absent: the caller. */
  testerId?: number | undefined;
}

/**
 * Starts a session, or logs one that is over (operation 49).
 * @throws Failure `invalid` for times that cannot be and a tester without access, `missing` for an assessment that the
 *   caller has no access to, `forbidden` for who names another tester and is no admin, `conflict` where one cannot be
 *   started now
 */
export async function createTestingSession(
  tx: Transaction,
  act: Attribution<Caller>,
  assessmentUid: string,
  input: TestingSessionInput,
): Promise<TestingSessionView> {
  const { actor: caller, now } = act;
  const { note = '' } = input;
  const isStart = input.startedAt === undefined && input.endedAt === undefined;
  const times = isStart ? { startedAt: now, endedAt: null } : loggedTimes(input, now);
  const assessment = isStart
    ? await lockAssessment(tx, caller, assessmentUid)
    : await requireAssessment(tx, caller, assessmentUid);
  const tester = await resolveTester(tx, caller, assessment, input.testerId);
  if (isStart) {
    requireActive(assessment);
    await endOverdueTestingSessions(tx, act, { testerId: tester.id, assessmentId: assessment.id });
  }
  const session = await insertTestingSession(
    tx,
    act,
    { assessment, tester, ...times, note },
    isStart ? 'testing-session.start' : 'testing-session.log',
  );
  if (session === undefined) throw sessionRunningError();
  return readTestingSession(tx, caller, session.id, now);
}

function loggedTimes({ startedAt, endedAt }: TestingSessionInput, now: number) {
  const missingTimes = Object.entries({ startedAt, endedAt }).flatMap(([property, value]): FieldError[] =>
    value === undefined ? [{ property, code: 'both-times-required' }] : [],
  );
  if (startedAt === undefined || endedAt === undefined) throw invalidInput(missingTimes);
  const times = alignEndToStart({ startedAt: clampToNow(startedAt, now), endedAt: clampToNow(endedAt, now) });
  validateTimes(times, now);
  return times;
}

/** @returns the time, or now for one that is a little ahead */
function clampToNow(time: number, now: number): number {
  return time > now && time <= now + CLOCK_SKEW ? now : time;
}

/** Times may be given to the second, and a start has milliseconds: an end in its second is not before it, but at it. */
function alignEndToStart<Times extends { startedAt: number; endedAt: number | null }>(times: Times): Times {
  const { startedAt, endedAt } = times;
  const isSame = endedAt !== null && endedAt < startedAt && endedAt === startedAt - (startedAt % 1_000);
  return isSame ? { ...times, endedAt: startedAt } : times;
}

/** @throws Failure `invalid` for a session in the future, one that ends before it starts, and one that is too long */
function validateTimes(
  { startedAt, endedAt }: { startedAt: number; endedAt: number | null },
  now: number,
): void {
  const told = (time: number) => new Date(time).toISOString();
  const faults: FieldError[] = [];
  if (startedAt > now) faults.push({ property: 'startedAt', code: 'in-the-future', value: told(startedAt) });
  if (endedAt !== null && endedAt > now)
    faults.push({ property: 'endedAt', code: 'in-the-future', value: told(endedAt) });
  if (faults.length === 0) {
    const until = endedAt ?? now;
    const [property, value] = endedAt === null ? ['startedAt', startedAt] : ['endedAt', endedAt];
    if (until < startedAt)
      faults.push({
        property,
        code: 'before',
        params: { other: 'startedAt' },
        value: told(value),
      });
    if (until - startedAt > MAX_SESSION_DURATION)
      faults.push({ property, code: 'session-too-long', value: told(value) });
  }
  if (faults.length > 0) throw invalidInput(faults);
}

/** @returns whose session it is, who has access to the assessment */
async function resolveTester(
  db: ReadConnection,
  caller: Caller,
  assessment: VisibleAssessment,
  named: number | undefined,
): Promise<{ id: number; uid: string }> {
  if (named !== undefined && named !== caller.userId && !isAdminOf(caller, assessment.organizationId))
    throw new DomainError('forbidden', { code: 'log-time-of-others-admins-only' });
  const id = named ?? caller.userId;
  if (id === null)
    throw invalidInput({
      property: 'testerId',
      code: 'tester-required',
    });
  const tester = await db.selectFrom('users').select(['id', 'uid']).where('id', '=', id).executeTakeFirst();
  const hasAccess = await accessByPair(db, [[assessment.id, id]]);
  if (tester === undefined || !hasAccess(assessment.id, id))
    throw invalidInput({
      property: 'testerId',
      code: 'user-without-access',
      value: id,
    });
  return tester;
}

function requireActive({ state }: { state: string }): void {
  if (state !== 'active')
    throw new DomainError('conflict', { code: 'assessment-not-active', params: { state } });
}

/** What changes of a session; what is absent stays, and `null` has it run again. */
export interface TestingSessionUpdate {
  startedAt?: number | undefined;
  endedAt?: number | null | undefined;
  note?: string | undefined;
}

/**
 * Stops or corrects a session (operation 50).
 * @throws Failure `missing` for one of an assessment that the caller has no access to, `forbidden` for who is neither its
 *   tester nor an admin, `changed` for another version than is expected, `invalid` for times that cannot be, `conflict`
 *   where it cannot run again
 */
export async function updateTestingSession(
  tx: Transaction,
  act: Attribution<Caller>,
  id: number,
  change: TestingSessionUpdate,
  expected?: ExpectedVersion,
): Promise<TestingSessionView> {
  const { actor: caller, now } = act;
  const { row, view } = await lockSession(tx, act, id, expected);
  const before = { started_at: view.startedAt, ended_at: view.endedAt, note: view.note };
  const standing = change.endedAt === null ? null : view.endedAt;
  const times = alignEndToStart({
    startedAt: clampToNow(change.startedAt ?? view.startedAt, now),
    endedAt: typeof change.endedAt === 'number' ? clampToNow(change.endedAt, now) : standing,
  });
  validateTimes(times, now);
  if (times.endedAt === null && view.endedAt !== null) await requireNoRunningSession(tx, act, row);
  const after = {
    started_at: times.startedAt,
    ended_at: times.endedAt,
    note: change.note ?? view.note,
  };
  const names = (['started_at', 'ended_at', 'note'] as const).filter((name) => before[name] !== after[name]);
  if (names.length === 0) return view;
  await tx
    .updateTable('testing_sessions')
    .set((eb) => ({ ...after, version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .execute();
  const side = (of: typeof after) => Object.fromEntries(names.map((name) => [name, of[name]]));
  await recordEvent(tx, act, {
    action: 'testing-session.update',
    object: ['testing-session', id],
    organizationId: row.organization_id,
    before: side(before),
    after: side(after),
  });
  return readTestingSession(tx, caller, id, now);
}

/** Deletes a session (operation 51), for its tester and admins; throws as `correctSession` does. */
export async function deleteTestingSession(
  tx: Transaction,
  act: Attribution<Caller>,
  id: number,
  expected?: ExpectedVersion,
): Promise<void> {
  const { row, view } = await lockSession(tx, act, id, expected);
  await tx.deleteFrom('testing_sessions').where('id', '=', id).execute();
  await recordEvent(tx, act, {
    action: 'testing-session.delete',
    object: ['testing-session', id],
    organizationId: row.organization_id,
    before: {
      assessment: view.assessment,
      tester: view.tester.uid,
      started_at: view.startedAt,
      ended_at: view.endedAt,
      note: view.note,
    },
    after: null,
  });
}

/** Finds a session that is to be changed, and keeps others from changing it until this unit of work ends. */
async function lockSession(
  tx: Transaction,
  { actor: caller, now }: Attribution<Caller>,
  id: number,
  expected: ExpectedVersion | undefined,
) {
  const row = await tx
    .selectFrom('testing_sessions')
    .select(['id', 'organization_id', 'assessment_id', 'tester_id', 'version'])
    .where('id', '=', id)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined) throw notFound('testing session');
  const view = await readTestingSession(tx, caller, id, now);
  if (row.tester_id !== caller.userId && !isAdminOf(caller, row.organization_id))
    throw new DomainError('forbidden', { code: 'session-tester-or-admin-only' });
  requireVersion(expected, row.version);
  return { row, view };
}

/** @throws Failure `conflict` where a session cannot run again */
async function requireNoRunningSession(
  tx: Transaction,
  act: Attribution,
  { assessment_id: assessmentId, tester_id: testerId }: { assessment_id: number; tester_id: number },
): Promise<void> {
  const assessment = await tx
    .selectFrom('assessments')
    .select('state')
    .where('id', '=', assessmentId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirstOrThrow();
  requireActive(assessment);
  await endOverdueTestingSessions(tx, act, { testerId, assessmentId });
  const running = await tx
    .selectFrom('testing_sessions')
    .select('id')
    .where('tester_id', '=', testerId)
    .where('assessment_id', '=', assessmentId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (running !== undefined) throw sessionRunningError();
}
