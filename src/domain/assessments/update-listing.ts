import { createHash } from 'node:crypto';
import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import { chunked } from '../../db/chunks.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import {
  forKeyShare,
  forNoKeyUpdate,
  inList,
  withoutIndex,
  parseRows,
  rowsAsJson,
} from '../../db/dialect-sql.ts';
import { prepareQuery, preparePipelined, prepareWrite } from '../../db/prepared-queries.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { recordEvent } from '../audit/record-event.ts';
import { invalidInput, notFound, type FieldError } from '../shared/errors.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { permissionError } from '../shared/permissions.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  assessmentIsVisible,
  memoizeByVisibility,
  visibilityByScopes,
  visibilityParameters,
  type VisibilityParameters,
} from '../shared/visibility.ts';

/** Limits of scope rules (docs/decided.md, section 8). */
export const MAX_SCOPE_RULES = 100;
export const MAX_SCOPE_RULE_LENGTH = 2_048;

/** The input of operation 11. */
export interface ListingUpdate {
  /** Assets to add; `scopeRules` also replaces the rules of assets that are listed already. */
  add?: readonly { assetUid: string; scopeRules?: readonly { rule: string }[] }[];
  /** Uids of assets. */
  remove?: readonly string[];
}

/** The new scope rules as stored; `undefined` if they stay the same. */
type Rules = string | undefined;
/** Scope rules by the uid of the asset; `null` removes the asset from the listing. */
export type ListingPlan = ReadonlyMap<string, Rules | null>;

export interface Listing {
  id: number;
  uid: string;
  organization_id: number;
}

interface Asset {
  id: number;
  uid: string;
}

interface AssetPlacement extends Asset {
  rules: Rules | null;
}

/** Assets per statement: their old rules must fit in memory. */
const MAX_ASSETS_AT_ONCE = 500;
/** Assets. For more, the audit log has their number and a digest. */
const MAX_AUDITED_ASSETS = 300;

const NO_RULES = '[]';

const upsertListingAssets = prepareInsert(
  'listing_assets',
  { organization_id: 'int', assessment_id: 'int', asset_id: 'int', scope_rules: 'text', import_id: 'int' },
  `on conflict (asset_id, assessment_id) do update set
    scope_rules = excluded.scope_rules, import_id = excluded.import_id`,
);

const lockVisibleListing = memoizeByVisibility((visibility) =>
  prepareWrite<VisibilityParameters & { uid: string }, Listing>((tx, p) =>
    selectForNoKeyUpdate(tx, p.uid).where(assessmentIsVisible(visibility, p)),
  ),
);

const selectForNoKeyUpdate = (tx: Transaction, uid: string) =>
  tx
    .selectFrom('assessments')
    .select(['id', 'uid', 'organization_id'])
    .where('uid', '=', uid)
    .modifyEnd(forNoKeyUpdate(tx));

const ASSET_COLUMNS = ['assets.id', 'assets.uid'] as const;

const selectVisibleAssets = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { organization: number; uids: readonly string[] }, Asset>((db, p) =>
    db
      .selectFrom('assets')
      .select(rowsAsJson(db, ASSET_COLUMNS))
      .where((eb) => inList(db, eb.ref('assets.uid'), p.uids))
      .where((eb) => eb(withoutIndex(eb.ref('assets.organization_id')), '=', p.organization))
      .where(assetIsVisible(visibility, p))
      .orderBy('assets.uid'),
  ),
);

interface AssetsOfListing {
  listing: number;
  assets: readonly number[];
}

const currentEntries = prepareQuery<
  AssetsOfListing,
  { asset_id: number; scope_rules: string; import_id: number | null }
>((db, p) =>
  db
    .selectFrom('listing_assets')
    .select(['asset_id', 'scope_rules', 'import_id'])
    .where('assessment_id', '=', p.listing)
    .where((eb) => inList(db, eb.ref('asset_id'), p.assets)),
);

const deleteAssets = preparePipelined<AssetsOfListing>((tx, p) =>
  tx
    .deleteFrom('listing_assets')
    .where('assessment_id', '=', p.listing)
    .where((eb) => inList(tx, eb.ref('asset_id'), p.assets)),
);

/**
 * Plans operation 11 before its transaction. For an asset that `add` repeats, the last `scopeRules` count.
 * @throws DomainError `invalid` for an asset in both lists
 */
export function planListingUpdate({ add = [], remove = [] }: ListingUpdate): ListingPlan {
  rejectOverlap(add, remove);
  const plan = new Map<string, Rules | null>();
  for (const { assetUid, scopeRules } of add) {
    plan.set(assetUid, rulesText(scopeRules?.map(({ rule }) => rule)) ?? plan.get(assetUid));
  }
  for (const uid of remove) plan.set(uid, null);
  return plan;
}

const rulesText = (rules: readonly string[] | undefined): Rules => rules && JSON.stringify(rules);

/**
 * Adds assets to a listing and removes others, all or nothing (operation 11). Ignores assets that are unknown,
 * invisible or of another organization.
 * @throws DomainError `not-found` for the listing, `forbidden` if the caller can only read it
 */
export async function updateListingAssets(
  tx: Transaction,
  by: ChangeContext<Caller>,
  listingUid: string,
  plan: ListingPlan,
): Promise<void> {
  const { actor: caller } = by;
  const visibility = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const parameters = visibilityParameters(caller);
  // No row has a uid of another form, and PostgreSQL rejects some strings.
  if (!ASSESSMENT_UID.test(listingUid)) throw notFound('listing');
  const [listing] = await lockVisibleListing(visibility)(tx, { ...parameters, uid: listingUid });
  if (listing === undefined) {
    const readable = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'read');
    const [readableListing] = await lockVisibleListing(readable)(tx, { ...parameters, uid: listingUid });
    throw readableListing === undefined ? notFound('listing') : permissionError('write_assets');
  }
  if (plan.size === 0) return;
  const placements: AssetPlacement[] = [];
  // Sorted as their index.
  for (const uids of chunked([...plan.keys()].sort())) {
    const organization = listing.organization_id;
    const assets = await selectVisibleAssets(visibility)(tx, { ...parameters, organization, uids });
    placements.push(
      ...parseRows(['id', 'uid'], assets).map((asset) => ({ ...asset, rules: plan.get(asset.uid) })),
    );
  }
  await applyPlacements(tx, by, listing, placements);
}

/** Adds new assets to a listing of their organization that the caller can see. */
export async function addNewAssetsToListing(
  tx: Transaction,
  by: ChangeContext,
  listingUid: string,
  assets: readonly { id: number; uid: string }[],
): Promise<void> {
  const listing = await selectForNoKeyUpdate(tx, listingUid).executeTakeFirst();
  if (listing === undefined) throw notFound('listing');
  const placements = assets.map(({ id, uid }): AssetPlacement => ({ id, uid, rules: undefined }));
  await applyPlacements(tx, by, listing, sortedByUid(placements));
}

/** @returns whether the caller may use operation 11 on a listing */
export async function canWriteListing(db: ReadConnection, caller: Caller, id: number): Promise<boolean> {
  const visibility = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const row = await db
    .selectFrom('assessments')
    .select('id')
    .where('id', '=', id)
    .where(assessmentIsVisible(visibility, visibilityParameters(caller)))
    .executeTakeFirst();
  return row !== undefined;
}

const selectVisibleIds = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { ids: readonly number[] }, { id: number }>((db, p) =>
    db
      .selectFrom('assets')
      .select('assets.id')
      .where((eb) => inList(db, eb.ref('assets.id'), p.ids))
      .where(assetIsVisible(visibility, p)),
  ),
);

/**
 * Adds assets of a report to a listing: those that the caller could add with operation 11, and those that the import
 * created.
 * @param listing locked, and one that the caller may write
 * @param assets of the listing's organization, and not in the listing
 * @returns the ids of those that are listed now
 */
export async function listReportedAssets(
  tx: Transaction,
  by: ChangeContext<Caller>,
  listing: Listing,
  importId: number,
  assets: readonly (Asset & { import_id: number | null })[],
): Promise<ReadonlySet<number>> {
  const visibility = visibilityByScopes(by.actor, ASSET_WRITE_SCOPES, 'write_assets');
  const listed = new Set(assets.flatMap(({ id, import_id }) => (import_id === importId ? [id] : [])));
  const ids = assets.flatMap(({ id }) => (listed.has(id) ? [] : [id]));
  const visible = await selectVisibleIds(visibility)(tx, { ...visibilityParameters(by.actor), ids });
  for (const { id } of visible) listed.add(id);
  await lockRows(tx, 'assets', [...listed], forKeyShare);
  const placements = assets.flatMap(({ id, uid }): AssetPlacement[] =>
    listed.has(id) ? [{ id, uid, rules: undefined }] : [],
  );
  await applyPlacements(tx, by, listing, sortedByUid(placements), importId);
  return listed;
}

/** Takes assets off a locked listing. */
export async function removeFromListing(
  tx: Transaction,
  by: ChangeContext,
  listing: Listing,
  assets: readonly Asset[],
): Promise<void> {
  const placements = assets.map(({ id, uid }): AssetPlacement => ({ id, uid, rules: null }));
  await applyPlacements(tx, by, listing, sortedByUid(placements));
}

const sortedByUid = (placements: readonly AssetPlacement[]): AssetPlacement[] =>
  placements.toSorted((one, other) => (one.uid < other.uid ? -1 : 1));

/**
 * Applies placements, sorted by uid, to a locked listing.
 * @param importId the import that adds the assets; `null` if a person does. The undo of an import removes what it added
 */
async function applyPlacements(
  tx: Transaction,
  by: ChangeContext,
  listing: Listing,
  placements: readonly AssetPlacement[],
  importId: number | null = null,
): Promise<void> {
  const [before, after] = [new AuditedAssets(), new AuditedAssets()];
  for (const chunk of chunked(placements, MAX_ASSETS_AT_ONCE)) {
    const changes = await applyChunk(tx, listing, chunk, importId);
    before.add(changes.map(({ uid, from }) => [uid, from]));
    after.add(changes.map(({ uid, to }) => [uid, to]));
  }
  if (after.count === 0) return;
  await recordEvent(tx, by, {
    action: 'listing.update',
    object: ['assessment', listing.uid],
    organizationId: listing.organization_id,
    before: { assets: before.audited() },
    after: { assets: after.audited() },
  });
}

/** `null`: not in the listing. */
interface AssetChange extends Asset {
  from: string | null;
  to: string | null;
}

async function applyChunk(
  tx: Transaction,
  { id: listing, organization_id: organization }: Listing,
  placements: readonly AssetPlacement[],
  importId: number | null,
): Promise<AssetChange[]> {
  const rows = await currentEntries(tx, { listing, assets: placements.map(({ id }) => id) });
  const current = new Map(rows.map((row) => [row.asset_id, row]));
  const placed = placements.map(({ id, uid, rules }): AssetChange => {
    const from = current.get(id)?.scope_rules ?? null;
    return { id, uid, from, to: rules === undefined ? (from ?? NO_RULES) : rules };
  });
  const changes = placed.filter(({ from, to }) => from !== to);

  const removed = changes.filter(({ to }) => to === null);
  if (removed.length > 0) await deleteAssets(tx, { listing, assets: removed.map(({ id }) => id) });
  // An asset that an import listed and a person lists again stays after an undo.
  const written = placed.filter(
    ({ id, from, to }) => to !== null && (from !== to || current.get(id)?.import_id !== importId),
  );
  await upsertListingAssets(
    tx,
    written.map(({ id, to }) => [organization, listing, id, to, importId]),
  );
  return changes;
}

/** One side of the audit event: the rules of each asset; for many assets, their number and a digest. */
class AuditedAssets {
  count = 0;
  readonly #few: Record<string, unknown> = {};
  readonly #digest = createHash('sha256');

  /** @param assets uids and rules, sorted by uid */
  add(assets: readonly (readonly [uid: string, rules: string | null])[]): void {
    this.count += assets.length;
    this.#digest.update(assets.map(([uid, rules]) => `${uid} ${rules}\n`).join(''));
    if (this.count > MAX_AUDITED_ASSETS) return;
    for (const [uid, rules] of assets) this.#few[uid] = rules === null ? null : JSON.parse(rules);
  }

  audited(): object {
    if (this.count <= MAX_AUDITED_ASSETS) return this.#few;
    return { count: this.count, sha256: this.#digest.digest('hex') };
  }
}

function rejectOverlap(add: readonly { assetUid: string }[], remove: readonly string[]): void {
  const removed = new Set(remove);
  const errors = add.flatMap(({ assetUid }, index): FieldError[] =>
    removed.has(assetUid)
      ? [{ property: `add.${index}.assetUid`, code: 'also-in', params: { other: 'remove' }, value: assetUid }]
      : [],
  );
  if (errors.length > 0) throw invalidInput(errors);
}
