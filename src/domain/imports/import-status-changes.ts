import type { Attribution } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { statusSnapshot } from '../vulnerabilities/lock-vulnerability.ts';
import type { TimelineEntry } from '../vulnerabilities/timeline.ts';
import type { ImportJob } from './import-types.ts';

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
  'import_statuses',
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

/** Names the import in place of a person. */
export function statusTimelineEntry(
  of: Pick<TimelineEntry, 'organizationId' | 'vulnerabilityId'>,
  job: ImportJob,
  before: number,
  after: number,
): TimelineEntry {
  return {
    ...of,
    kind: 'status',
    before: statusSnapshot(before),
    after: { ...statusSnapshot(after), import_id: job.id },
  };
}

/** Attributes timeline entries to no person. */
export function systemAttribution({ caller }: ImportJob, now: number): Attribution {
  return { actor: { ...caller, userId: null }, now };
}
