import { sql } from 'kysely';
import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { isAdminOf } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { preparePipelined, prepareWrite } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { belongsToStaff } from '../shared/permissions.ts';
import { type Filter, integerFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { isClosed, STATUS } from '../shared/statuses-and-severities.ts';
import { addDeltas } from '../shared/counters.ts';
import { changeStatus } from './change-status.ts';
import { countedFieldsOf, counterDeltas } from './counter-deltas.ts';
import {
  lockVulnerability,
  requireVulnerabilityPermission,
  type VisibleVulnerability,
} from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

export const RETEST_DECISIONS = ['verified', 'failed', 'blocked', 'cancelled'] as const;
export type RetestDecision = (typeof RETEST_DECISIONS)[number];
export const RETEST_STATUSES = ['requested', ...RETEST_DECISIONS] as const;

/** Times are milliseconds since 1970. */
export interface Retest {
  id: number;
  version: number;
  message: string;
  status: (typeof RETEST_STATUSES)[number];
  createdAt: number;
  user: UserRef | null;
  /** `null` while it is requested. */
  decidedAt: number | null;
  decidedBy: UserRef | null;
  decisionMessage: string | null;
}

type RetestRow = Pick<Row<'retests'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  'id',
  'organization_id',
  'user_id',
  'message',
  'status',
  'created_at',
  'decided_at',
  'decided_by',
  'decision_message',
  'version',
] as const;

/** Retests of a vulnerability (operation 27). The caller checks that `vulnerabilityId` is visible. */
export const retestList = defineList({
  name: 'retests',
  rows: ({ db }) => db.selectFrom('retests').select(COLUMNS.map((column) => `retests.${column}` as const)),
  id: 'retests.id',
  organization: 'retests.organization_id',
  filters: { vulnerabilityId: integerFilter('retests.vulnerability_id') as Filter<'integers'> },
  sorts: { createdAt: { column: 'retests.created_at', type: 'integer' } },
  hydrate: ({ db }, rows) => hydrateRetests(db, rows),
  batchSize: 50,
});

const insertRetest = prepareWrite<
  { organizationId: number; vulnerabilityId: number; userId: number | null; message: string; now: number },
  RetestRow
>((tx, p) =>
  tx
    .insertInto('retests')
    .values({
      organization_id: p.organizationId,
      vulnerability_id: p.vulnerabilityId,
      user_id: p.userId,
      message: p.message,
      status: 'requested',
      created_at: p.now,
    })
    .returning(COLUMNS),
);

/** Does not set `updated_at`: the change of the status does, and the index with both is then written once. */
const updateRetestStatus = preparePipelined<{
  id: number;
  status: Retest['status'];
  statusBefore: number | null;
}>((tx, p) =>
  tx
    .updateTable('vulnerabilities')
    .set({ retest_status: p.status, status_before_retest: p.statusBefore })
    .where('id', '=', p.id),
);

/**
 * Requests a retest and sets the status to "Pending Verification".
 * @throws DomainError `not-found`, `forbidden` without the role, `conflict` when the vulnerability is closed or a
 *   retest is requested already
 */
export async function requestRetest(
  tx: Transaction,
  by: ChangeContext<Caller>,
  vulnerabilityId: number,
  message: string,
): Promise<Retest> {
  const { actor: caller, now } = by;
  const vulnerability = await lockVulnerability(tx, caller, vulnerabilityId, 'comment');
  const organizationId = vulnerability.organization_id;
  const internal = vulnerability.draft === 1;
  if (vulnerability.retest_status === 'requested') throw new DomainError('retest-pending');
  if (isClosed(vulnerability.status_id)) throw new DomainError('vulnerability-closed');
  const inserted = { organizationId, vulnerabilityId, userId: caller.userId, message, now };
  const [row] = (await insertRetest(tx, inserted)) as [RetestRow];
  await recordTimeline(tx, by, {
    organizationId,
    vulnerabilityId,
    kind: 'retest',
    after: { id: row.id, status: 'requested', message },
    internal,
  });
  await recordEvent(tx, by, {
    action: 'retest.create',
    object: ['retest', row.id],
    organizationId,
    before: null,
    after: { vulnerability: vulnerabilityId, message, status: 'requested' },
    internal,
  });
  await setRetestStatus(tx, by, vulnerability, {
    statusId: STATUS.pendingVerification,
    retestStatus: 'requested',
    statusBefore: vulnerability.status_id,
  });
  const [retest] = await hydrateRetests(tx, [row]);
  return retest as Retest;
}

/**
 * Decides a retest. `verified` sets the status to "Fixed", `failed` to "Fix In Progress", and the others restore it,
 * unless it has changed meanwhile.
 * @throws DomainError `not-found`, `forbidden`, `version-mismatch`, `conflict` when it is decided already
 */
export async function decideRetest(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  { status, message }: { status: RetestDecision; message?: string | undefined },
  expected?: ExpectedVersion,
): Promise<Retest> {
  const { actor: caller, now } = by;
  const vulnerability = await lockVulnerability(tx, caller, vulnerabilityId, undefined);
  const row = await tx
    .selectFrom('retests')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('vulnerability_id', '=', vulnerabilityId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirst();
  if (row === undefined) throw notFound('retest');
  await requireDecisionRight(tx, caller, vulnerability, row, status);
  requireVersion(expected, row.version);
  if (row.status !== 'requested') throw new DomainError('retest-decided', { status: row.status });
  const decided = {
    status,
    decided_at: now,
    decided_by: caller.userId,
    decision_message: message ?? null,
    version: row.version + 1,
  };
  await tx.updateTable('retests').set(decided).where('id', '=', id).execute();
  const organizationId = vulnerability.organization_id;
  const internal = vulnerability.draft === 1;
  const after = { status, ...(message === undefined ? {} : { message }) };
  await recordTimeline(tx, by, {
    organizationId,
    vulnerabilityId,
    kind: 'retest',
    before: { id, status: 'requested' },
    after: { id, ...after },
    internal,
  });
  await recordEvent(tx, by, {
    action: 'retest.decide',
    object: ['retest', id],
    organizationId,
    before: { status: 'requested', ...(message === undefined ? {} : { decision_message: null }) },
    after: { status, ...(message === undefined ? {} : { decision_message: message }) },
    internal,
  });
  await setRetestStatus(tx, by, vulnerability, {
    statusId: statusAfter(status, vulnerability),
    retestStatus: status,
    statusBefore: vulnerability.status_before_retest,
  });
  const [retest] = await hydrateRetests(tx, [{ ...row, ...decided }]);
  return retest as Retest;
}

function statusAfter(
  decision: RetestDecision,
  { status_before_retest: before, status_id: current }: VisibleVulnerability,
) {
  if (current !== STATUS.pendingVerification) return current;
  switch (decision) {
    case 'verified':
      return STATUS.fixed;
    case 'failed':
      return STATUS.fixInProgress;
    case 'blocked':
    case 'cancelled':
      return before ?? current;
  }
}

/**
 * Sets the retest status of a vulnerability, and its status with an audit event if that is another.
 * @param statusBefore the status to restore when the retest is blocked or cancelled
 */
async function setRetestStatus(
  tx: Transaction,
  by: ChangeContext,
  vulnerability: VisibleVulnerability,
  {
    statusId,
    retestStatus,
    statusBefore,
  }: { statusId: number; retestStatus: Retest['status']; statusBefore: number | null },
): Promise<void> {
  const { id } = vulnerability;
  await updateRetestStatus(tx, { id, status: retestStatus, statusBefore });
  if (statusId === vulnerability.status_id) {
    await tx.updateTable('vulnerabilities').set({ updated_at: by.now }).where('id', '=', id).execute();
    const before = countedFieldsOf(vulnerability, { tags: [], assets: [] });
    return addDeltas(tx, counterDeltas(before, { ...before, retestStatus }));
  }
  await changeStatus(tx, by, vulnerability, statusId, retestStatus);
  await recordEvent(tx, by, {
    action: 'vulnerability.update',
    object: ['vulnerability', vulnerability.id],
    organizationId: vulnerability.organization_id,
    before: { status_id: vulnerability.status_id },
    after: { status_id: statusId },
    internal: vulnerability.draft === 1,
  });
}

/**
 * Checks who may decide a retest. Its author, their admins and testers may cancel it. Others decide it, but never its
 * author: staff, and unless staff reported the vulnerability, users who triage and had tested the assessment.
 * @throws DomainError `forbidden`
 */
async function requireDecisionRight(
  db: ReadConnection,
  caller: Caller,
  vulnerability: VisibleVulnerability,
  retest: Pick<RetestRow, 'user_id' | 'created_at'>,
  status: RetestDecision,
): Promise<void> {
  const isAuthor = retest.user_id !== null && retest.user_id === caller.userId;
  if (status !== 'cancelled' && isAuthor) throw new DomainError('retest-author');
  if (caller.staff) return;
  if (status === 'cancelled' && isAdminOf(caller, vulnerability.organization_id)) return;
  if (status === 'cancelled' && isAuthor)
    return requireVulnerabilityPermission(caller, vulnerability, 'comment');
  requireVulnerabilityPermission(caller, vulnerability, 'triage');
  if (status !== 'cancelled' && belongsToStaff(caller, vulnerability.reported_by_staff))
    throw new DomainError('staff-retest');
  if (!(await hasTestedBefore(db, caller, vulnerability.assessment_id, retest.created_at)))
    throw new DomainError('retest-testers-only');
}

/** The least duration of a testing session that counts, in milliseconds. */
const MIN_SESSION_DURATION = 60_000;

/**
 * @returns whether the caller entered a session of their own before, which had lasted a minute by then; times that were
 *   corrected since do not count
 */
async function hasTestedBefore(
  db: ReadConnection,
  caller: Caller,
  assessmentId: number,
  requestedAt: number,
): Promise<boolean> {
  const session = await db
    .selectFrom('testing_sessions')
    .select('id')
    .where('assessment_id', '=', assessmentId)
    .where('tester_id', '=', caller.userId)
    .where('entered_by', '=', caller.userId)
    .where('created_at', '<', requestedAt)
    .where('started_at', '<=', requestedAt - MIN_SESSION_DURATION)
    .where((eb) =>
      eb.or([
        eb('ended_at', 'is', null),
        eb('ended_at', '>=', sql<number>`started_at + ${sql.lit(MIN_SESSION_DURATION)}`),
      ]),
    )
    // Other times since then would say that it had lasted longer. In a note, the quotes are escaped.
    .where(({ not, exists, selectFrom, or }) =>
      not(
        exists(
          selectFrom('testing_session_edits as edit')
            .select('edit.id')
            .whereRef('edit.session_id', '=', 'testing_sessions.id')
            .where('edit.edited_at', '>=', requestedAt)
            .where(({ eb }) =>
              or([eb('edit.before', 'like', '%"started_at":%'), eb('edit.before', 'like', '%"ended_at":%')]),
            ),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return session !== undefined;
}

/** @returns whether the caller may verify the requested retest of a vulnerability that they can see */
export async function canVerifyRetest(
  db: ReadConnection,
  caller: Caller,
  vulnerability: VisibleVulnerability,
): Promise<boolean> {
  const retest = await db
    .selectFrom('retests')
    .select(['user_id', 'created_at'])
    .where('vulnerability_id', '=', vulnerability.id)
    .where('status', '=', 'requested')
    .executeTakeFirst();
  if (retest === undefined) return false;
  try {
    await requireDecisionRight(db, caller, vulnerability, retest, 'verified');
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function hydrateRetests(db: ReadConnection, rows: readonly RetestRow[]): Promise<Retest[]> {
  const userOf = await loadUserRefs(
    db,
    rows.flatMap((row) => [row.user_id, row.decided_by]),
  );
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    message: row.message,
    status: row.status,
    createdAt: row.created_at,
    user: userOf(row.user_id),
    decidedAt: row.decided_at,
    decidedBy: userOf(row.decided_by),
    decisionMessage: row.decision_message,
  }));
}
