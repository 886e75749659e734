import type { Attribution } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import type { FindingsJob, ImportJob } from './import-types.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { changeStatuses } from '../vulnerabilities/change-status.ts';

/** A status change by an import. */
export interface StatusChange {
  /** Id of the vulnerability. */
  id: number;
  before: number;
  after: number;
  /** When the previous status was set, in milliseconds since 1970. */
  statusSetAt: number;
  closedAt: number | null;
}

const insertRows = prepareInsert(
  'import_status_changes',
  {
    import_id: 'int',
    vulnerability_id: 'int',
    organization_id: 'int',
    before: 'int',
    after: 'int',
    status_set_at: 'int',
    closed_at: 'int',
    set_at: 'int',
  },
  'on conflict (import_id, vulnerability_id) do nothing',
);

/** Stores the status changes of an import for an undo. */
export async function recordStatusChanges(
  tx: Transaction,
  job: ImportJob,
  now: number,
  statuses: readonly StatusChange[],
): Promise<void> {
  await insertRows(
    tx,
    statuses.map(({ id, before, after, statusSetAt, closedAt }) => [
      job.id,
      id,
      job.organizationId,
      before,
      after,
      statusSetAt,
      closedAt,
      now,
    ]),
  );
}

/** Attributes timeline entries to no person. */
export function systemAttribution({ caller }: ImportJob, now: number): Attribution {
  return { actor: { ...caller, userId: null }, now };
}

/** The counter fields of a finding whose tags stay the same. */
export const findingCounters = (
  { organizationId }: Pick<FindingsJob, 'organizationId'>,
  row: { assessment_id: number; status_id: number; severity: string },
  assets: readonly number[] = [],
) => ({
  organizationId,
  assessmentId: row.assessment_id,
  statusId: row.status_id,
  severity: row.severity,
  tags: [],
  assets,
});

/**
 * Changes the status of locked findings, with counters, timeline and undo records.
 * @param to `closedAt` in milliseconds since 1970; `null` for an open status
 */
export async function changeFindingStatuses(
  tx: Transaction,
  job: FindingsJob,
  rows: readonly {
    id: number;
    assessment_id: number;
    status_id: number;
    status_set_at: number;
    closed_at: number | null;
    severity: string;
  }[],
  to: { status: number; closedAt: number | null },
  sums: DeltaAccumulator,
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  const transitions = rows.map((row) => ({
    id: row.id,
    organizationId: job.organizationId,
    assessmentId: row.assessment_id,
    severity: row.severity,
    before: row.status_id,
    after: to.status,
    statusSetAt: now,
    closedAt: to.closedAt,
  }));
  sums.add(await changeStatuses(tx, systemAttribution(job, now), transitions, job.id));
  await recordStatusChanges(
    tx,
    job,
    now,
    rows.map(({ id, status_id: before, status_set_at: statusSetAt, closed_at: closedAt }) => ({
      id,
      before,
      after: to.status,
      statusSetAt,
      closedAt,
    })),
  );
}
