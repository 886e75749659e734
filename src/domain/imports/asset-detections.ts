import { type SqlBool, sql } from 'kysely';
import type { Attribution, Caller } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import { forKeyShare, forUpdate, inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { portDeltasOf } from '../assets/ports.ts';
import { updateSeenRange } from '../assets/scans/queries.ts';
import { recordEvents } from '../audit/record-event.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { addDeltas, deleteCounters } from '../shared/counters.ts';
import { canDeleteCreatedAsset } from './asset-permissions.ts';
import type { ImportJob } from './import-types.ts';
import { changeHostDetections } from './undo-hosts.ts';
import { inSteps, type UndoStep } from './undo-steps.ts';
import type { ImportToUndo } from './undo-import.ts';

const insertDetections = prepareInsert(
  'asset_detections',
  { organization_id: 'int', asset_id: 'int', import_id: 'int', first_seen_at: 'int', seen_at: 'int' },
  `on conflict (asset_id, import_id) do update set
    first_seen_at = case when excluded.first_seen_at < asset_detections.first_seen_at then excluded.first_seen_at
      else asset_detections.first_seen_at end,
    seen_at = case when excluded.seen_at > asset_detections.seen_at then excluded.seen_at
      else asset_detections.seen_at end`,
);

/**
 * Records that an import saw assets. An asset that an import made belongs to the earliest one that saw it.
 * @param seen distinct assets
 */
export async function recordAssetDetections(
  tx: Transaction,
  job: ImportJob,
  seen: readonly { id: number; firstSeenAt: number; seenAt: number }[],
): Promise<void> {
  if (seen.length === 0) return;
  const ids = seen.map(({ id }) => id);
  const stored = new Map((await lockSeen(tx, { ids })).map((row) => [row.id, row]));
  await updateSeenRange(
    tx,
    seen.flatMap(({ id, firstSeenAt, seenAt }) => {
      const { first_seen: first = null, last_seen: last = null } = stored.get(id) ?? {};
      const isWithin = first !== null && last !== null && first <= firstSeenAt && seenAt <= last;
      return isWithin ? [] : [{ id, first: firstSeenAt, last: seenAt }];
    }),
  );
  await insertDetections(
    tx,
    seen.map(({ id, firstSeenAt, seenAt }) => [job.organizationId, id, job.id, firstSeenAt, seenAt]),
  );
  const ofOthers = ids.filter((id) => ![null, job.id].includes(stored.get(id)?.import_id ?? null));
  if (ofOthers.length === 0) return;
  const earlier = await selectEarlierSeen(tx, { ids: ofOthers, import: job.id });
  await moveToImports(
    tx,
    earlier.map(({ id }) => [id, job.id]),
  );
}

/** An undo locks assets for update. So it waits, and then reads the detections that this transaction inserts. */
const lockSeen = prepareWrite<
  { ids: readonly number[] },
  { id: number; first_seen: number | null; last_seen: number | null; import_id: number | null }
>((tx, p) =>
  tx
    .selectFrom('assets')
    .select(['id', 'first_seen', 'last_seen', 'import_id'])
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .orderBy('id')
    .modifyEnd(forKeyShare(tx)),
);

/** Assets that an import saw before the one that made them. */
const selectEarlierSeen = prepareQuery<{ ids: readonly number[]; import: number }, { id: number }>((db, p) =>
  db
    .selectFrom('assets')
    .innerJoin('asset_detections as own', 'own.asset_id', 'assets.id')
    // Absent if that import was undone, and a person's change kept the asset.
    .leftJoin('asset_detections as made', (join) =>
      join.onRef('made.asset_id', '=', 'assets.id').onRef('made.import_id', '=', 'assets.import_id'),
    )
    .select('assets.id')
    .where((eb) => inList(db, eb.ref('assets.id'), p.ids))
    .where('own.import_id', '=', p.import)
    .where('assets.import_id', '<>', p.import)
    .where(
      sql<SqlBool>`(made.import_id is null or (own.first_seen_at, own.import_id) < (made.first_seen_at, made.import_id))`,
    ),
);

/** Makes assets those of other imports, and moves their entries in the listings of the imports' assessments. */
async function moveToImports(
  tx: Transaction,
  moves: readonly (readonly [asset: number, toImport: number])[],
): Promise<void> {
  if (moves.length === 0) return;
  const moved = sql`(select ${itemInteger(0)} as asset_id, new.organization_id, old.assessment_id as old_id,
      new.assessment_id as new_id
    from ${jsonRowsTable(tx, moves)}
    join assets on assets.id = ${itemInteger(0)}
    join imports as old on old.id = assets.import_id
    join imports as new on new.id = ${itemInteger(1)}
    where coalesce(new.assessment_id, 0) <> coalesce(old.assessment_id, 0))`;
  // What a person took off the listing stays off.
  await sql`insert into listing_assets (organization_id, assessment_id, asset_id)
    select organization_id, new_id, asset_id from ${moved} as moved
    where new_id is not null and (old_id is null or exists (select 1 from listing_assets as listed
      where listed.asset_id = moved.asset_id and listed.assessment_id = moved.old_id))
    on conflict do nothing`.execute(tx);
  await sql`delete from listing_assets where scope_rules = '[]' and (asset_id, assessment_id) in (
    select asset_id, old_id from ${moved} as moved where old_id is not null)`.execute(tx);
  await sql`update assets set import_id = ${itemInteger(1)} from ${jsonRowsTable(tx, moves)}
    where assets.id = ${itemInteger(0)}`.execute(tx);
}

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
