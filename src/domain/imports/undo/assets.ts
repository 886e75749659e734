import { sql } from 'kysely';
import type { Attribution, Caller } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { forUpdate, inList } from '../../../db/dialect-sql.ts';
import { portDeltasOf } from '../../assets/ports.ts';
import { recordEvents } from '../../audit/record-event.ts';
import { addDeltas, deleteCounters } from '../../shared/counters.ts';
import { canDeleteCreatedAsset } from '../asset-permissions.ts';
import { undoStep, type ImportToUndo, type UndoStep } from './findings.ts';

/** Deletes the assets that the import created, that nothing else refers to, and that the caller may delete. */
export async function undoAssets(
  tx: Transaction,
  { id, organizationId, assessmentId, createdAt }: ImportToUndo,
  by: Attribution<Caller>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const created = await tx
    .selectFrom('assets')
    .selectAll()
    .where('import_id', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .modifyEnd(forUpdate(tx))
    .execute();
  const ids = created.map((row) => row.id);
  const { rows: unreferenced } = await sql<{ id: number }>`select assets.id from assets
    where ${inList(tx, sql.ref<number>('assets.id'), ids)}
      and assets.version = 1 and coalesce(assets.last_seen, 0) <= ${createdAt}
      and not exists (select 1 from vulnerability_assets as link where link.asset_id = assets.id)
      and not exists (select 1 from asset_taggings as tagging where tagging.asset_id = assets.id)
      and not exists (select 1 from listing_assets as listed where listed.asset_id = assets.id
        and not (listed.assessment_id = ${assessmentId ?? 0} and listed.scope_rules = '[]'))
      and not exists (select 1 from port_events as event where event.asset_id = assets.id
        and (event.import_id is null or event.import_id <> ${id}))`.execute(tx);
  const isUnreferenced = new Set(unreferenced.map((row) => row.id));
  const deleted = created.filter(
    (row) => isUnreferenced.has(row.id) && canDeleteCreatedAsset(by.actor, row.writable_by),
  );
  for (const row of deleted) {
    await deleteCounters(tx, 'asset', row.id);
    await addDeltas(tx, await portDeltasOf(tx, row.id, -1));
  }
  if (deleted.length > 0)
    await tx
      .deleteFrom('assets')
      .where((eb) =>
        inList(
          tx,
          eb.ref('id'),
          deleted.map((row) => row.id),
        ),
      )
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
  return undoStep(created, limit, ids.at(-1), deleted.length);
}
