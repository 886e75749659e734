import { sql } from 'kysely';
import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import {
  containsSubstring,
  forNoKeyUpdate,
  forUpdate,
  inList,
  itemInteger,
  jsonRowsTable,
} from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { readPortDeltas } from '../assets/ports.ts';
import { deriveHost } from '../assets/scans/derive-ports.ts';
import { countDetections } from '../assets/scans/host-detections.ts';
import { recordEvents } from '../audit/record-event.ts';
import { addDeltas, deleteCounters } from '../shared/counters.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { moveToImports } from './apply-assets.ts';
import { canDeleteCreatedAsset } from './import-permissions.ts';

/** The result of one transaction of an undo; `last` is the id to continue after, `null` at the end. */
export interface UndoStep {
  last: number | null;
  done: number;
  kept: number;
}

/**
 * Runs a step in one transaction after another until it returns `null` as `last`.
 * @returns the sums of all
 */
export async function runInSteps(
  writer: AdaptiveWriter,
  step: (tx: Transaction, after: number, limit: number) => Promise<UndoStep>,
): Promise<Omit<UndoStep, 'last'>> {
  const sums = { done: 0, kept: 0 };
  for (let after: number | null = 0; after !== null;) {
    const from: number = after;
    const limit = writer.batchSize;
    const { last, done, kept }: UndoStep = await writer.write(limit, (tx) => step(tx, from, limit));
    sums.done += done;
    sums.kept += kept;
    after = last;
  }
  return sums;
}

/** The most detections that a transaction reads again, unless its first host alone has more. */
const MAX_REREAD = 1_000;

/**
 * Deletes the detections of hosts by an import, or moves them to another time, and derives the ports again from all
 * scans.
 * @param change what to do with the detections of some hosts
 */
export async function changeHostDetections(
  tx: Transaction,
  { id, organizationId }: { id: number; organizationId: number },
  change: (hosts: readonly number[]) => Promise<unknown>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('host_detections')
    .select('asset_id')
    .distinct()
    .where('import_id', '=', id)
    .where('asset_id', '>', after)
    .orderBy('asset_id')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.asset_id);
  if (ids.length === 0) return { last: null, done: 0, kept: 0 };
  const counts = new Map((await countDetections(tx, { ids })).map((row) => [row.asset_id, row.count]));
  let reread = 0;
  const hosts = ids.filter((host, index) => {
    reread += counts.get(host) ?? 0;
    return index === 0 || reread <= MAX_REREAD;
  });
  await lockRows(tx, 'assets', hosts, forNoKeyUpdate);
  await change(hosts);
  for (const host of hosts) await deriveHost(tx, organizationId, host, id);
  const isLast = hosts.length === ids.length && ids.length < limit;
  return { last: isLast ? null : (hosts.at(-1) ?? null), done: 0, kept: 0 };
}

/** Matches the stored options of imports whose findings begin as drafts. */
const MAKES_DRAFTS = containsSubstring(sql.ref<string>('imports.options'), '"draft":true');

/**
 * Deletes the import's detections of assets, and the assets that it created, except those that another import saw, a
 * person changed or the caller may not delete. Undo the findings, hosts and listing of the import first.
 */
export async function undoAssetDetections(
  tx: Transaction,
  { id, organizationId, assessmentId }: { id: number; organizationId: number; assessmentId: number | null },
  by: ChangeContext<Caller>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
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
  if (rows.length === 0) return { last: null, done: 0, kept: 0 };
  const ids = rows.map((row) => row.id);
  await tx
    .deleteFrom('asset_detections')
    .where('import_id', '=', id)
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .execute();
  // Of the assessment's imports, those that stand have detections. Those of drafts do not count.
  await sql`delete from detected_assets where assessment_id = ${assessmentId}
    and ${inList(tx, sql.ref<number>('asset_id'), ids)}
    and not exists (select 1 from asset_detections as seen join imports on imports.id = seen.import_id
      where seen.asset_id = detected_assets.asset_id and imports.assessment_id = detected_assets.assessment_id
        and not (${MAKES_DRAFTS}))`.execute(tx);
  const earliest = await restoreSeenTimes(tx, ids);
  const created = rows.filter((row) => row.import_id === id);
  await moveToImports(
    tx,
    created.flatMap((row) => {
      const otherImportId = earliest.get(row.id);
      return otherImportId === undefined ? [] : [[row.id, otherImportId] as const];
    }),
  );
  const unshared = created.filter((row) => !earliest.has(row.id));
  const untouched = await findUntouched(
    tx,
    unshared.map((row) => row.id),
  );
  const deleted = unshared.filter(
    (row) => untouched.has(row.id) && canDeleteCreatedAsset(by.actor, row.writable_by),
  );
  for (const row of deleted) {
    await deleteCounters(tx, 'asset', row.id);
    await addDeltas(tx, await readPortDeltas(tx, row.id, -1));
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
    last: rows.length < limit ? null : (ids.at(-1) ?? null),
    done: deleted.length,
    kept: created.length - deleted.length,
  };
}

/**
 * Moves the detections of hosts and assets by an import to another time, in small transactions.
 * @param seenAt milliseconds since 1970
 */
export async function retimeAssetDetections(
  writer: AdaptiveWriter,
  { id, organizationId }: { id: number; organizationId: number },
  seenAt: number,
): Promise<void> {
  await runInSteps(writer, (tx, after, limit) =>
    changeHostDetections(
      tx,
      { id, organizationId },
      (hosts) =>
        tx
          .updateTable('host_detections')
          .set({ seen_at: seenAt })
          .where('import_id', '=', id)
          .where((eb) => inList(tx, eb.ref('asset_id'), hosts))
          .execute(),
      after,
      limit,
    ),
  );
  await runInSteps(writer, (tx, after, limit) => retimeAssets(tx, id, seenAt, after, limit));
}

async function retimeAssets(
  tx: Transaction,
  importId: number,
  seenAt: number,
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
    .set({ first_seen_at: seenAt, seen_at: seenAt })
    .where('import_id', '=', importId)
    .where((eb) => inList(tx, eb.ref('asset_id'), ids))
    .execute();
  const earliest = await restoreSeenTimes(tx, ids);
  await moveToImports(
    tx,
    rows.flatMap((row) => {
      const creator = earliest.get(row.id);
      return row.import_id === null || creator === undefined || creator === row.import_id
        ? []
        : [[row.id, creator] as const];
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
  const otherTimes = await tx
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
  for (const { asset_id, first, last } of otherTimes) add(asset_id, first, last);
  const values = ids.map((id) => [id, ...(times.get(id) ?? [null, null])]);
  await sql`update assets set first_seen = ${itemInteger(1)}, last_seen = ${itemInteger(2)}
    from ${jsonRowsTable(tx, values)} where assets.id = ${itemInteger(0)}`.execute(tx);
  return earliest;
}

/** @returns the assets that were never changed and to which nothing refers */
async function findUntouched(tx: Transaction, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`select assets.id from assets
    where ${inList(tx, sql.ref<number>('assets.id'), ids)} and assets.version = 1
      and not exists (select 1 from vulnerability_assets as link where link.asset_id = assets.id)
      and not exists (select 1 from asset_taggings as tagging where tagging.asset_id = assets.id)
      and not exists (select 1 from listing_assets as listed where listed.asset_id = assets.id)`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}
