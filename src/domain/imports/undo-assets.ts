import { sql } from 'kysely';
import type { Attribution, Caller } from '../../auth/callers.ts';
import type { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import { forUpdate, inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { portDeltasOf } from '../assets/ports.ts';
import { recordEvents } from '../audit/record-event.ts';
import { addDeltas, deleteCounters } from '../shared/counters.ts';
import { moveToImports } from './asset-detections.ts';
import { canDeleteCreatedAsset } from './asset-permissions.ts';
import { changeHostDetections } from './undo-hosts.ts';
import type { ImportToUndo } from './undo-import.ts';
import { inSteps, type UndoStep } from './undo-steps.ts';

/**
 * Deletes the import's detections of assets, and the assets that no other import saw, no person touched and the caller
 * may delete. Undo the findings and hosts of the import first.
 */
export async function undoAssetDetections(
  tx: Transaction,
  { id, organizationId, assessmentId }: ImportToUndo,
  by: Attribution<Caller>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const seen = await tx
    .selectFrom('assets')
    .selectAll()
    .where('id', '>', after)
    .where((eb) =>
      eb.or([
        eb('import_id', '=', id),
        eb('id', 'in', eb.selectFrom('asset_detections').select('asset_id').where('import_id', '=', id)),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .modifyEnd(forUpdate(tx))
    .execute();
  if (seen.length === 0) return { last: null, done: 0, kept: 0 };
  const ids = seen.map((row) => row.id);
  await tx
    .deleteFrom('asset_detections')
    .where('import_id', '=', id)
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .execute();
  const earliest = await restoreSeenTimes(tx, ids);
  const made = seen.filter((row) => row.import_id === id);
  await moveToImports(
    tx,
    made.flatMap((row) => {
      const other = earliest.get(row.id);
      return other === undefined ? [] : [[row.id, other] as const];
    }),
  );
  const alone = made.filter((row) => !earliest.has(row.id));
  const untouched = await findUntouched(
    tx,
    alone.map((row) => row.id),
    assessmentId,
  );
  const deleted = alone.filter(
    (row) => untouched.has(row.id) && canDeleteCreatedAsset(by.actor, row.writable_by),
  );
  for (const row of deleted) {
    await deleteCounters(tx, 'asset', row.id);
    await addDeltas(tx, await portDeltasOf(tx, row.id, -1));
  }
  const deletedIds = new Set(deleted.map((row) => row.id));
  await tx
    .deleteFrom('assets')
    .where((eb) => inList(tx, eb.ref('id'), [...deletedIds]))
    .execute();
  await recordEvents(
    tx,
    deleted.map(({ uid, type, location, name }) => ({
      by,
      change: {
        action: 'asset.delete',
        object: ['asset', uid],
        organizationId,
        before: { type, location, name, import_id: id },
        after: null,
      },
    })),
  );
  return {
    last: seen.length < limit ? null : (ids.at(-1) ?? null),
    done: deleted.length,
    kept: made.length - deleted.length,
  };
}

/**
 * Moves what an import saw of hosts and assets to another time, in small transactions.
 * @param at milliseconds since 1970
 */
export async function retimeAssetDetections(
  writer: AdaptiveWriter,
  { id, organizationId }: { id: number; organizationId: number },
  at: number,
): Promise<void> {
  await inSteps(writer, (tx, after, limit) =>
    changeHostDetections(
      tx,
      { id, organizationId },
      (hosts) =>
        tx
          .updateTable('host_detections')
          .set({ seen_at: at })
          .where('import_id', '=', id)
          .where((eb) => inList(tx, eb.ref('asset_id'), hosts))
          .execute(),
      after,
      limit,
    ),
  );
  await inSteps(writer, (tx, after, limit) => retimeAssets(tx, id, at, after, limit));
}

async function retimeAssets(
  tx: Transaction,
  importId: number,
  at: number,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('assets')
    .select(['id', 'import_id'])
    .where('id', '>', after)
    .where('id', 'in', (eb) =>
      eb.selectFrom('asset_detections').select('asset_id').where('import_id', '=', importId),
    )
    .orderBy('id')
    .limit(limit)
    .modifyEnd(forUpdate(tx))
    .execute();
  const ids = rows.map((row) => row.id);
  await tx
    .updateTable('asset_detections')
    .set({ first_seen_at: at, seen_at: at })
    .where('import_id', '=', importId)
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .execute();
  const earliest = await restoreSeenTimes(tx, ids);
  await moveToImports(
    tx,
    rows.flatMap((row) => {
      const maker = earliest.get(row.id);
      return row.import_id === null || maker === undefined || maker === row.import_id
        ? []
        : [[row.id, maker] as const];
    }),
  );
  return { last: rows.length < limit ? null : (ids.at(-1) ?? null), done: 0, kept: 0 };
}

/**
 * Recomputes when assets were first and last seen, from the remaining detections.
 * @returns the earliest import that saw an asset
 */
async function restoreSeenTimes(tx: Transaction, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx
    .selectFrom('asset_detections')
    .select(['asset_id', 'import_id', 'first_seen_at', 'seen_at'])
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .orderBy('asset_id')
    .orderBy('first_seen_at')
    .orderBy('import_id')
    .execute();
  // Scans without an import, and ports from before scans were stored.
  const others = await tx
    .selectFrom('host_detections')
    .select(({ fn }) => ['asset_id', fn.min('seen_at').as('first'), fn.max('seen_at').as('last')])
    .where('import_id', '=', 0)
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .groupBy('asset_id')
    .execute();
  const times = new Map<number, [first: number, last: number]>();
  const earliest = new Map<number, number>();
  const add = (id: number, first: number, last: number): void => {
    const [oldFirst, oldLast] = times.get(id) ?? [first, last];
    times.set(id, [Math.min(first, oldFirst), Math.max(last, oldLast)]);
  };
  for (const row of rows) {
    add(row.asset_id, row.first_seen_at, row.seen_at);
    if (!earliest.has(row.asset_id)) earliest.set(row.asset_id, row.import_id);
  }
  for (const { asset_id, first, last } of others) add(asset_id, first, last);
  const values = ids.map((id) => [id, ...(times.get(id) ?? [null, null])]);
  await sql`update assets set first_seen = ${itemInteger(1)}, last_seen = ${itemInteger(2)}
    from ${jsonRowsTable(tx, values)} where assets.id = ${itemInteger(0)}`.execute(tx);
  return earliest;
}

/** @returns those of the assets that nothing refers to but the listing of the import's assessment */
async function findUntouched(
  tx: Transaction,
  ids: readonly number[],
  assessmentId: number | null,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`select assets.id from assets
    where ${inList(tx, sql.ref<number>('assets.id'), ids)} and assets.version = 1
      and not exists (select 1 from vulnerability_assets as link where link.asset_id = assets.id)
      and not exists (select 1 from asset_taggings as tagging where tagging.asset_id = assets.id)
      and not exists (select 1 from listing_assets as listed where listed.asset_id = assets.id
        and not (listed.assessment_id = ${assessmentId ?? 0} and listed.scope_rules = '[]'))`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}
