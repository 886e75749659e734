import { sql } from 'kysely';
import type { ChangeContext } from '../../auth/callers.ts';
import { itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { preparePipelined, prepareQuery } from '../../db/prepared-queries.ts';
import { addDeltas, type CounterDelta } from '../shared/counters.ts';
import type { VisibleVulnerability } from './lock-vulnerability.ts';
import { closedAt, STATUS_NAMES } from '../shared/statuses-and-severities.ts';
import { recordTimeline, recordTimelineEntries, type TimelineEntry } from './timeline.ts';
import { counterDeltas } from './counter-deltas.ts';
import { loadLinkedIds } from './insert-vulnerabilities.ts';

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
 */
export async function changeStatus(
  tx: Transaction,
  by: ChangeContext,
  row: Pick<
    VisibleVulnerability,
    'id' | 'organization_id' | 'assessment_id' | 'severity' | 'status_id' | 'draft'
  >,
  statusId: number,
): Promise<void> {
  if (statusId === row.status_id) return;
  const { id, organization_id: organizationId, assessment_id: assessmentId, severity, draft } = row;
  const assets = (await selectAssetIds(tx, { id })).map(({ asset_id }) => asset_id);
  await updateStatus(tx, { id, status: statusId, now: by.now, closed: closedAt(statusId, by.now) });
  await addDeltas(
    tx,
    statusDeltas(
      { organizationId, assessmentId, severity, draft, before: row.status_id, after: statusId },
      assets,
    ),
  );
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
  assessmentId: number;
  severity: string;
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
 * Changes the statuses of locked vulnerabilities with their timelines, and no audit events.
 * @param importId the import that does it, which the timeline names
 * @returns the counter deltas, which the caller writes with others of its transaction
 */
export async function changeStatuses(
  tx: Transaction,
  by: ChangeContext,
  transitions: readonly StatusTransition[],
  importId?: number,
): Promise<CounterDelta[]> {
  if (transitions.length === 0) return [];
  const rows = transitions.map((row) => [row.id, row.after, row.statusSetAt, row.closedAt]);
  await sql`update vulnerabilities set status_id = ${itemInteger(1)}, status_set_at = ${itemInteger(2)}, closed_at = ${itemInteger(3)},
      updated_at = ${by.now}, version = version + 1
    from ${jsonRowsTable(tx, rows)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
  const assets = await loadLinkedIds(
    tx,
    'assets',
    transitions.map(({ id }) => id),
  );
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
  return transitions.flatMap((transition) => statusDeltas(transition, assets.get(transition.id) ?? []));
}

function statusDeltas(
  {
    organizationId,
    assessmentId,
    severity,
    draft,
    before,
    after,
  }: Pick<StatusTransition, 'organizationId' | 'assessmentId' | 'severity' | 'draft' | 'before' | 'after'>,
  assets: readonly number[],
): CounterDelta[] {
  const counted = (statusId: number) => ({
    organizationId,
    assessmentId,
    statusId,
    severity,
    draft,
    tags: [],
    assets,
  });
  return counterDeltas(counted(before), counted(after));
}
