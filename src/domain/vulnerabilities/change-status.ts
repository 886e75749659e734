import { sql } from 'kysely';
import type { ChangeContext } from '../../auth/callers.ts';
import { itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { preparePipelined, prepareQuery } from '../../db/prepared-queries.ts';
import { addDeltas } from '../shared/counters.ts';
import type { VisibleVulnerability } from './lock-vulnerability.ts';
import { closedAt, STATUS_NAMES } from '../shared/statuses-and-severities.ts';
import { recordTimeline, recordTimelineEntries, type TimelineEntry } from './timeline.ts';
import { countedFieldsOf, counterDeltas } from './counter-deltas.ts';

/** One object for each status: entries that share it serialize it once. */
const SNAPSHOTS: ReadonlyMap<number, object> = new Map(
  [...STATUS_NAMES].map(([id, status]) => [id, { status_id: id, status }]),
);

/** @returns the timeline entry of a status change */
export function statusTimelineEntry(
  target: Pick<TimelineEntry, 'organizationId' | 'vulnerabilityId' | 'importId' | 'internal'>,
  before: number,
  after: number,
): TimelineEntry {
  return {
    ...target,
    kind: 'status',
    before: SNAPSHOTS.get(before) ?? null,
    after: SNAPSHOTS.get(after) ?? null,
  };
}

const updateStatus = preparePipelined<{ id: number; status: number; now: number; closed: number | null }>(
  (tx, p) =>
    tx
      .updateTable('vulnerabilities')
      .set((eb) => ({
        status_id: p.status,
        status_set_at: p.now,
        closed_at: p.closed,
        updated_at: p.now,
        version: eb('version', '+', eb.lit(1)),
      }))
      .where('id', '=', p.id),
);

const selectAssetIds = prepareQuery<{ id: number }, { asset_id: number }>((db, p) =>
  db.selectFrom('vulnerability_assets').select('asset_id').where('vulnerability_id', '=', p.id),
);

/**
 * Changes the status of a locked vulnerability with its counters and its timeline. The caller records the audit event.
 * Does nothing when the status is the same.
 * @param retestStatus if the caller has changed it, so that the counters change once
 */
export async function changeStatus(
  tx: Transaction,
  by: ChangeContext,
  row: VisibleVulnerability,
  statusId: number,
  retestStatus = row.retest_status,
): Promise<void> {
  if (statusId === row.status_id) return;
  const { id, organization_id: organizationId, draft } = row;
  const assets = (await selectAssetIds(tx, { id })).map(({ asset_id }) => asset_id);
  const closed = closedAt(statusId, by.now);
  await updateStatus(tx, { id, status: statusId, now: by.now, closed });
  const before = countedFieldsOf(row, { tags: [], assets });
  await addDeltas(tx, counterDeltas(before, { ...before, statusId, closedAt: closed, retestStatus }));
  await recordTimeline(
    tx,
    by,
    statusTimelineEntry(
      { organizationId, vulnerabilityId: id, internal: draft === 1 },
      row.status_id,
      statusId,
    ),
  );
}

/** A status change of one locked vulnerability among many. */
export interface StatusTransition {
  id: number;
  organizationId: number;
  /** 1 for a draft. */
  draft: number;
  /** Ids of statuses. */
  before: number;
  after: number;
  /** Milliseconds since 1970, of the status after. */
  statusSetAt: number;
  /** `null` for an open one. */
  closedAt: number | null;
}

/**
 * Changes the statuses of locked vulnerabilities with their timelines. The caller changes the counters. Records no audit
 * events.
 * @param importId the import that does it, which the timeline names
 */
export async function changeStatuses(
  tx: Transaction,
  by: ChangeContext,
  transitions: readonly StatusTransition[],
  importId?: number,
): Promise<void> {
  if (transitions.length === 0) return;
  const rows = transitions.map((row) => [row.id, row.after, row.statusSetAt, row.closedAt]);
  await sql`update vulnerabilities set status_id = ${itemInteger(1)}, status_set_at = ${itemInteger(2)}, closed_at = ${itemInteger(3)},
      updated_at = ${by.now}, version = version + 1
    from ${jsonRowsTable(tx, rows)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
  await recordTimelineEntries(
    tx,
    by,
    transitions.map(({ id, organizationId, draft, before, after }) =>
      statusTimelineEntry(
        {
          organizationId,
          vulnerabilityId: id,
          internal: draft === 1,
          ...(importId === undefined ? {} : { importId }),
        },
        before,
        after,
      ),
    ),
  );
}
