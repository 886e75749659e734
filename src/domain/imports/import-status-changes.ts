import type { Act } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { statusTold } from '../vulnerabilities/lock-vulnerability.ts';
import type { TimelineEntry } from '../vulnerabilities/timeline.ts';
import type { ImportJob } from './import-types.ts';

/** A status that an import sets. */
export interface SetStatus {
  /** Of the vulnerability. */
  id: number;
  before: number;
  after: number;
  /** Of the vulnerability before that, in milliseconds since 1970. */
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

/** Remembers statuses that an import sets, so that it can be undone. */
export async function insertStatuses(
  tx: Transaction,
  job: ImportJob,
  now: number,
  statuses: readonly SetStatus[],
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

/** What an import does to a vulnerability is told without a person, with the import instead. */
export function statusEntry(
  of: Pick<TimelineEntry, 'organizationId' | 'vulnerabilityId'>,
  job: ImportJob,
  before: number,
  after: number,
): TimelineEntry {
  return {
    ...of,
    kind: 'status',
    before: statusTold(before),
    after: { ...statusTold(after), import_id: job.id },
  };
}

/** @returns the act of an import as timelines have it: nobody decided it */
export function unnamed({ caller }: ImportJob, now: number): Act {
  return { actor: { ...caller, userId: null }, now };
}
