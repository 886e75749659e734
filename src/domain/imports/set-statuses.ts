import type { Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { recordTimelineEntries } from '../vulnerabilities/timeline.ts';
import { counterDeltas } from '../vulnerabilities/vulnerability-counters.ts';
import type { FindingsJob } from './import-types.ts';
import { recordStatusChanges, statusTimelineEntry, systemAttribution } from './import-status-changes.ts';
import { linkedAssets } from './linked-things.ts';

export const REOPENED = 2;

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
  const ids = rows.map(({ id }) => id);
  await tx
    .updateTable('vulnerabilities')
    .set((eb) => ({
      status_id: to.status,
      status_set_at: now,
      closed_at: to.closedAt,
      updated_at: now,
      version: eb('version', '+', eb.lit(1)),
    }))
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .execute();
  const assets = await linkedAssets(tx, ids);
  for (const row of rows) {
    const linked = assets.get(row.id) ?? [];
    sums.add(
      counterDeltas(
        findingCounters(job, row, linked),
        findingCounters(job, { ...row, status_id: to.status }, linked),
      ),
    );
  }
  await recordTimelineEntries(
    tx,
    systemAttribution(job, now),
    rows.map(({ id, status_id: before }) =>
      statusTimelineEntry(
        { organizationId: job.organizationId, vulnerabilityId: id },
        job,
        before,
        to.status,
      ),
    ),
  );
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
