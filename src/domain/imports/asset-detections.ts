import { type SqlBool, sql } from 'kysely';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { forKeyShare, inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { updateSeenRange } from '../assets/scans/host-queries.ts';
import type { ImportJob } from './import-types.ts';

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
  const madeByOthers = ids.filter((id) => {
    const maker = stored.get(id)?.import_id ?? null;
    return maker !== null && maker !== job.id;
  });
  if (madeByOthers.length === 0) return;
  const earlier = await selectEarlierSeen(tx, { ids: madeByOthers, import: job.id });
  await moveToImports(
    tx,
    earlier.map(({ id }) => [id, job.id]),
  );
}

/**
 * An undo, and a correction of a report's time, lock assets for update. So they wait, and then read the detections that
 * this transaction inserts.
 */
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
    // Absent if that import was undone and the asset remains because of a person's change.
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

/** Assigns assets to other imports, and moves their entries in the listings of the imports' assessments. */
export async function moveToImports(
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
  // An asset that a person removed from the listing stays removed.
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
