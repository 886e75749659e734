import type { ReadConnection } from '../../db/engine.ts';
import { countTransitions } from '../assets/port-events.ts';
import type { AssetLocation } from './detection.ts';
import type { ImportJob, ImportResult } from './import-types.ts';

const PAGE_SIZE = 100;

/** Remembers the assets that a run has counted. */
export interface CountedAssets {
  /** @returns whether it is new */
  addCreatedAsset(asset: AssetLocation): boolean;
}

/** Counts what an interrupted run has already done to assets. Findings need no count: they are upserted again. */
export async function countAlreadyApplied(
  db: ReadConnection,
  job: ImportJob,
  counted: CountedAssets,
): Promise<Partial<ImportResult>> {
  const applied = { assets_created: 0, assets_updated: 0, ports_opened: 0, ports_closed: 0 };
  for (let after = 0; ;) {
    const rows = await assetsCreatedAfter(db, job, after);
    for (const { type, location } of rows)
      if (counted.addCreatedAsset({ type: type as AssetLocation['type'], location }))
        applied.assets_created += 1;
    after = rows.at(-1)?.id ?? after;
    if (rows.length < PAGE_SIZE) break;
  }
  let last = { asset_id: 0, id: 0 };
  for (;;) {
    const rows = await portEventsAfter(db, job.id, last);
    for (const { changes, asset_id, location } of rows) {
      if (asset_id !== last.asset_id && counted.addCreatedAsset({ type: 'host', location }))
        applied.assets_updated += 1;
      last = { ...last, asset_id };
      const { opened, closed } = countTransitions(changes);
      applied.ports_opened += opened;
      applied.ports_closed += closed;
    }
    if (rows.length < PAGE_SIZE) return applied;
    last = rows.at(-1) ?? last;
  }
}

/** An asset that an import only saw earlier than others has its id, too. */
function assetsCreatedAfter(db: ReadConnection, { id, createdAt }: ImportJob, after: number) {
  return db
    .selectFrom('assets')
    .select(['id', 'type', 'location'])
    .where('import_id', '=', id)
    .where('created_at', '>=', createdAt)
    .where('id', '>', after)
    .orderBy('id')
    .limit(PAGE_SIZE)
    .execute();
}

function portEventsAfter(db: ReadConnection, importId: number, last: { asset_id: number; id: number }) {
  return db
    .selectFrom('port_events')
    .innerJoin('assets', 'assets.id', 'port_events.asset_id')
    .select(['port_events.id', 'port_events.asset_id', 'port_events.changes', 'assets.location'])
    .where('port_events.import_id', '=', importId)
    .where((eb) =>
      eb.or([
        eb('port_events.asset_id', '>', last.asset_id),
        eb.and([eb('port_events.asset_id', '=', last.asset_id), eb('port_events.id', '>', last.id)]),
      ]),
    )
    .orderBy('port_events.asset_id')
    .orderBy('port_events.id')
    .limit(PAGE_SIZE)
    .execute();
}
