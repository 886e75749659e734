import { inList } from '../../db/dialect-sql.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { countTransitions } from '../assets/port-events.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import type { AssetLocation } from './finding-detections.ts';
import type { ImportJob, ImportResult } from './import-types.ts';

const PAGE_SIZE = 100;

export interface CountedAssets {
  /** @returns whether it is new */
  addCreatedAsset(asset: AssetLocation): boolean;
  /** @returns whether it is new, and the import did not create it */
  addUpdatedAsset(asset: AssetLocation): boolean;
}

/** Counts what an interrupted run has already done to assets. Findings are upserted again instead. */
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
      if (asset_id !== last.asset_id && counted.addUpdatedAsset({ type: 'host', location }))
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

/**
 * Assets that the import did not create can have its id, too: those that it saw earlier than the import that created
 * them.
 */
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

/** A finding that an import detected again, and the last import that did. */
interface RepeatedFinding {
  /** `import_id`: the import that created the vulnerability. `published_import_id`: the one that published it. */
  finding: { id: number; import_id: number | null; published_import_id: number | null };
  last: { importId: number } | undefined;
}

/** @returns for each finding, what an interrupted run of this import has already done */
export async function earlierOutcomes(
  tx: Transaction,
  job: ImportJob,
  repeated: readonly RepeatedFinding[],
): Promise<Map<number, 'new' | 'reopened'>> {
  const outcomes = new Map<number, 'new' | 'reopened'>();
  const seenIds = repeated.flatMap(({ finding, last }) => (last?.importId === job.id ? [finding.id] : []));
  const createdIds = new Set(
    repeated.flatMap(({ finding }) => (finding.import_id === job.id ? [finding.id] : [])),
  );
  if (seenIds.length === 0 && createdIds.size === 0) return outcomes;
  const reopened = await tx
    .selectFrom('timeline_entries')
    .select(['vulnerability_id', 'after'])
    .where('kind', '=', 'status')
    .where('import_id', '=', job.id)
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), seenIds))
    .execute();
  for (const { vulnerability_id: id, after } of reopened)
    if ((JSON.parse(after ?? '{}') as { status_id?: number }).status_id === STATUS.pendingFix)
      outcomes.set(id, 'reopened');
  const otherDetections = await tx
    .selectFrom('detections')
    .select('vulnerability_id')
    .distinct()
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), [...createdIds]))
    .where('import_id', '<>', job.id)
    .where('is_made', '=', 1)
    .execute();
  for (const { vulnerability_id: id } of otherDetections) createdIds.delete(id);
  for (const id of createdIds) outcomes.set(id, 'new');
  for (const { finding } of repeated)
    if (finding.published_import_id === job.id) outcomes.set(finding.id, 'new');
  return outcomes;
}
