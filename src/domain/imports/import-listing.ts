import { sql, type SqlBool } from 'kysely';
import type { Caller, ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { containsSubstring, forNoKeyUpdate, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import { type Listing, listReportedAssets, removeFromListing } from '../assessments/update-listing.ts';
import { selectListedAssets } from '../assets/scans/host-queries.ts';
import { lockRows } from '../shared/lock-rows.ts';
import type { FoundAsset } from './import-permissions.ts';
import type { ImportJob } from './import-types.ts';
import type { UndoStep } from './undo-assets.ts';

// An import adds the assets of its report to the listing of its assessment if it says `list_assets` (ADR 98).

/** Locks the listing of an import that lists assets, before other rows (src/db/concurrency/README.md). */
export async function lockListing(tx: Transaction, { assessment, options }: ImportJob): Promise<void> {
  if (assessment !== null && options.listAssets === true)
    await lockRows(tx, 'assessments', [assessment.id], forNoKeyUpdate);
}

/**
 * Adds assets of the report to the listing, if the import lists assets and its starter may. Call it before the permissions
 * of the import are checked, which depend on the listing.
 * @returns the ids of the assets that the listing still lacks; none without an assessment
 */
export async function listOrFindUnlisted(
  tx: Transaction,
  { id: importId, caller, organizationId, assessment, options }: ImportJob,
  assets: readonly (FoundAsset & { uid: string; createsVulnerability?: boolean })[],
  now: number,
): Promise<ReadonlySet<number>> {
  if (assessment === null || assets.length === 0) return new Set();
  const ids = assets.map(({ id }) => id);
  const listedRows = await selectListedAssets(tx, { assessment: assessment.id, ids });
  const listed = new Set(listedRows.map(({ asset_id }) => asset_id));
  const unlisted = assets.filter(({ id }) => !listed.has(id));
  const toList = unlisted.filter(({ createsVulnerability }) => createsVulnerability !== false);
  if (options.listAssets !== true || toList.length === 0) return new Set(unlisted.map(({ id }) => id));
  const listing: Listing = { ...assessment, organization_id: organizationId };
  const added = await listReportedAssets(tx, { actor: caller, now }, listing, importId, toList);
  return new Set(unlisted.flatMap(({ id }) => (added.has(id) ? [] : [id])));
}

/** Matches the stored options of imports that list assets. Those from before the option existed listed new assets. */
const LISTS_ASSETS = sql<SqlBool>`not (${containsSubstring(sql.ref<string>('imports.options'), '"listAssets":false')})`;

/**
 * Removes the assets from the listing that the import added to it. If another import that was not undone saw an asset and
 * lists assets, the asset stays listed and is assigned to that import. Assets that a person listed, before or after the
 * import, are not removed.
 */
export async function undoListing(
  tx: Transaction,
  { id, organizationId, assessmentId }: { id: number; organizationId: number; assessmentId: number },
  by: ChangeContext<Caller>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const assessment = await tx
    .selectFrom('assessments')
    .select(['id', 'uid'])
    .where('id', '=', assessmentId)
    .modifyEnd(forNoKeyUpdate(tx))
    .executeTakeFirstOrThrow();
  const rows = await tx
    .selectFrom('listing_assets')
    .innerJoin('assets', 'assets.id', 'listing_assets.asset_id')
    .select((eb) => [
      'assets.id',
      'assets.uid',
      eb
        .selectFrom('asset_detections as seen')
        .innerJoin('imports', 'imports.id', 'seen.import_id')
        .select(({ fn }) => fn.min('imports.id').as('id'))
        .whereRef('seen.asset_id', '=', 'listing_assets.asset_id')
        .where('imports.id', '<>', id)
        .where('imports.assessment_id', '=', assessmentId)
        .where('imports.undone', 'is', null)
        .where(LISTS_ASSETS)
        .as('other'),
    ])
    .where('listing_assets.import_id', '=', id)
    .where('listing_assets.assessment_id', '=', assessmentId)
    .where('listing_assets.asset_id', '>', after)
    .orderBy('listing_assets.asset_id')
    .limit(limit)
    .execute();
  const listing = { ...assessment, organization_id: organizationId };
  await removeFromListing(
    tx,
    by,
    listing,
    rows.filter(({ other }) => other === null),
  );
  const passedOn = rows.flatMap((row) => (row.other === null ? [] : [[row.id, row.other]]));
  await sql`update listing_assets set import_id = ${itemInteger(1)} from ${jsonRowsTable(tx, passedOn)}
    where asset_id = ${itemInteger(0)} and assessment_id = ${assessmentId}`.execute(tx);
  return { last: rows.length < limit ? null : (rows.at(-1)?.id ?? null), done: 0, kept: 0 };
}
