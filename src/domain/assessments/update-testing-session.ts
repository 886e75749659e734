import { loadNameableCheck } from './nameable-users.ts';
import { type ChangeContext, isAdminOf, type Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { belongsToStaff, loadCallerRoles, requirePermission } from '../shared/permissions.ts';
import { DomainError, type FieldError, invalidInput, limitExceeded, notFound } from '../shared/errors.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { lockAssessment, type VisibleAssessment, requireAssessment } from './find-assessment.ts';
import { readTestingSession, type SessionFields, type TestingSessionView } from './testing-session-list.ts';
import {
  endOverdueTestingSessions,
  insertTestingSession,
  MAX_SESSION_DURATION,
  sessionRunningError,
} from './testing-sessions.ts';

/** Milliseconds. A time at most this far in the future counts as now. */
const CLOCK_SKEW = 60_000;

/** Starts a session if it has no times, logs one if it has both. Times are milliseconds since 1970. */
export interface TestingSessionInput {
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  note?: string | undefined;
  /** Absent: the caller. */
  testerId?: number | undefined;
}

/**
 * Starts a session, or logs a completed one (operation 49).
 * @throws DomainError `invalid` for invalid times and a tester without access, `not-found` for the assessment,
 *   `forbidden` without the role, and for another tester unless the caller is an admin, `conflict` when a session
 *   cannot start now
 */
export async function createTestingSession(
  tx: Transaction,
  by: ChangeContext<Caller>,
  assessmentUid: string,
  input: TestingSessionInput,
): Promise<TestingSessionView> {
  const { actor: caller, now } = by;
  const { note = '' } = input;
  const isStart = input.startedAt === undefined && input.endedAt === undefined;
  const times = isStart ? { startedAt: now, endedAt: null } : loggedTimes(input, now);
  const assessment = isStart
    ? await lockAssessment(tx, caller, assessmentUid)
    : await requireAssessment(tx, caller, assessmentUid);
  requirePermission(caller, assessment.organizationId, assessment, 'report');
  const tester = await resolveTester(tx, caller, assessment, input.testerId);
  if (isStart) {
    requireActive(assessment);
    await endOverdueTestingSessions(tx, by, { testerId: tester.id, assessmentId: assessment.id });
  }
  const session = await insertTestingSession(
    tx,
    by,
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

function clampToNow(time: number, now: number): number {
  return time > now && time <= now + CLOCK_SKEW ? now : time;
}

/** Clients can send whole seconds: an end that is the start without its milliseconds counts as the start. */
function alignEndToStart<Times extends { startedAt: number; endedAt: number | null }>(times: Times): Times {
  const { startedAt, endedAt } = times;
  const isSame = endedAt !== null && endedAt < startedAt && endedAt === startedAt - (startedAt % 1_000);
  return isSame ? { ...times, endedAt: startedAt } : times;
}

/**
 * @throws DomainError `invalid` for a session in the future, one that ends before it starts, and one that is too long
 */
function validateTimes(
  { startedAt, endedAt }: { startedAt: number; endedAt: number | null },
  now: number,
): void {
  const format = (time: number) => new Date(time).toISOString();
  const errors: FieldError[] = [];
  if (startedAt > now)
    errors.push({ property: 'startedAt', code: 'in-the-future', value: format(startedAt) });
  if (endedAt !== null && endedAt > now)
    errors.push({ property: 'endedAt', code: 'in-the-future', value: format(endedAt) });
  if (errors.length === 0) {
    const until = endedAt ?? now;
    const [property, value] = endedAt === null ? ['startedAt', startedAt] : ['endedAt', endedAt];
    if (until < startedAt)
      errors.push({
        property,
        code: 'before',
        params: { other: 'startedAt' },
        value: format(value),
      });
    if (until - startedAt > MAX_SESSION_DURATION)
      errors.push({ property, code: 'session-too-long', value: format(value) });
  }
  if (errors.length > 0) throw invalidInput(errors);
}

/** @throws DomainError `invalid` unless the tester has access to the assessment and the caller can name them */
async function resolveTester(
  db: ReadConnection,
  caller: Caller,
  assessment: VisibleAssessment,
  testerId: number | undefined,
): Promise<{ id: number; uid: string; staff: number }> {
  if (testerId !== undefined && testerId !== caller.userId && !isAdminOf(caller, assessment.organizationId))
    throw new DomainError('log-time-of-others-admins-only');
  const id = testerId ?? caller.userId;
  if (id === null) throw invalidInput({ property: 'testerId', code: 'tester-required' });
  const tester = await db
    .selectFrom('users')
    .select(['id', 'uid', 'staff'])
    .where('id', '=', id)
    .executeTakeFirst();
  const isNameable = await loadNameableCheck(db, caller, 'report', [[assessment.id, id]]);
  if (tester === undefined || !isNameable(assessment.id, id))
    throw invalidInput({ property: 'testerId', code: 'user-without-access', value: id });
  if (belongsToStaff(caller, tester.staff)) throw new DomainError('staff-hours');
  return tester;
}

function requireActive({ state }: { state: string }): void {
  if (state !== 'active') throw new DomainError('assessment-not-active', { state });
}

/** Absent fields stay; `endedAt: null` resumes the session. */
export interface TestingSessionUpdate {
  startedAt?: number | undefined;
  endedAt?: number | null | undefined;
  note?: string | undefined;
}

/**
 * Stops or corrects a session (operation 50).
 * @throws DomainError `not-found`, `forbidden` unless the caller is the tester or an admin and may correct it,
 *   `version-mismatch`, `invalid` for invalid times, `limit-exceeded` for too many corrections, `conflict` when it
 *   cannot resume
 */
export async function updateTestingSession(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  change: TestingSessionUpdate,
  expected?: ExpectedVersion,
): Promise<TestingSessionView> {
  const { actor: caller, now } = by;
  const { endedAt, ...corrections } = change;
  const isStop =
    typeof endedAt === 'number' && Object.values(corrections).every((value) => value === undefined);
  const { row, view } = await lockSession(tx, by, id, expected, { isStop });
  const before = { started_at: view.startedAt, ended_at: view.endedAt, note: view.note };
  const currentEnd = change.endedAt === null ? null : view.endedAt;
  const times = alignEndToStart({
    startedAt: clampToNow(change.startedAt ?? view.startedAt, now),
    endedAt: typeof change.endedAt === 'number' ? clampToNow(change.endedAt, now) : currentEnd,
  });
  validateTimes(times, now);
  if (times.endedAt === null && view.endedAt !== null) await requireCanResume(tx, by, row);
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
  const pickChanged = (values: SessionFields) =>
    Object.fromEntries(names.map((name) => [name, values[name]]));
  // The first stop completes a session; everything else corrects it.
  if (names.some((name) => name !== 'ended_at' || before.ended_at !== null))
    await recordEdit(tx, by, row, pickChanged(before), pickChanged(after));
  await recordEvent(tx, by, {
    action: 'testing-session.update',
    object: ['testing-session', id],
    organizationId: row.organization_id,
    before: pickChanged(before),
    after: pickChanged(after),
  });
  return readTestingSession(tx, caller, id, now);
}

/** Edits of one session, which live as long as it does. */
const MAX_EDITS = 50;

/** @throws DomainError `limit-exceeded` beyond `MAX_EDITS` */
async function recordEdit(
  tx: Transaction,
  { actor, now }: ChangeContext<Caller>,
  { id, organization_id }: { id: number; organization_id: number },
  before: object,
  after: object,
): Promise<void> {
  const { count } = await tx
    .selectFrom('testing_session_edits')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', id)
    .executeTakeFirstOrThrow();
  if (count >= MAX_EDITS)
    throw limitExceeded({ property: 'startedAt', code: 'too-many-edits', params: { max: MAX_EDITS } });
  await tx
    .insertInto('testing_session_edits')
    .values({
      organization_id,
      session_id: id,
      user_id: actor.userId,
      edited_at: now,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
    })
    .execute();
}

/**
 * Deletes a session (operation 51).
 * @throws DomainError `not-found`, `forbidden` unless the caller is the tester or an admin, `version-mismatch`
 */
export async function deleteTestingSession(
  tx: Transaction,
  by: ChangeContext<Caller>,
  id: number,
  expected?: ExpectedVersion,
): Promise<void> {
  const { row, view } = await lockSession(tx, by, id, expected);
  await tx.deleteFrom('testing_sessions').where('id', '=', id).execute();
  await recordEvent(tx, by, {
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

/** Locks a session that the caller can change. */
async function lockSession(
  tx: Transaction,
  { actor: caller, now }: ChangeContext<Caller>,
  id: number,
  expected: ExpectedVersion | undefined,
  { isStop = false } = {},
) {
  const row = await tx
    .selectFrom('testing_sessions')
    .select(['id', 'organization_id', 'assessment_id', 'tester_id', 'by_staff', 'version'])
    .where('id', '=', id)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined) throw notFound('testing session');
  const view = await readTestingSession(tx, caller, id, now);
  if (row.tester_id !== caller.userId && !isAdminOf(caller, row.organization_id))
    throw new DomainError('session-tester-or-admin-only');
  // Testers can always stop their clock.
  if (!isStop || view.endedAt !== null || row.tester_id !== caller.userId) {
    if (belongsToStaff(caller, row.by_staff)) throw new DomainError('staff-hours');
    const roles = await loadCallerRoles(tx, caller, row.assessment_id);
    requirePermission(caller, row.organization_id, roles, 'report');
  }
  requireVersion(expected, row.version);
  return { row, view };
}

/**
 * Locks the assessment and ends overdue sessions of the tester on it.
 * @throws DomainError `conflict` unless the assessment is active, and while a session of the tester runs on it
 */
async function requireCanResume(
  tx: Transaction,
  by: ChangeContext,
  { assessment_id: assessmentId, tester_id: testerId }: { assessment_id: number; tester_id: number },
): Promise<void> {
  const assessment = await tx
    .selectFrom('assessments')
    .select('state')
    .where('id', '=', assessmentId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirstOrThrow();
  requireActive(assessment);
  await endOverdueTestingSessions(tx, by, { testerId, assessmentId });
  const running = await tx
    .selectFrom('testing_sessions')
    .select('id')
    .where('tester_id', '=', testerId)
    .where('assessment_id', '=', assessmentId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (running !== undefined) throw sessionRunningError();
}
