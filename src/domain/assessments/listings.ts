import type { Act, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import { prepareInsert } from '../../db/bulk.ts';
import type { Transaction } from '../../db/engine.ts';
import { holdingRows, isOneOf, unindexed } from '../../db/portable.ts';
import { prepare, prepareUnread, prepareWrite } from '../../db/prepared.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { recordChange } from '../shared/audit.ts';
import { invalid, missing } from '../shared/failure.ts';
import {
  assetWithin,
  listingWithin,
  perReach,
  reachOfCaller,
  reachParameters,
  type ReachParameters,
} from '../shared/reach.ts';

/** Limits of scope rules (docs/decided.md, section 8). */
export const MAX_SCOPE_RULES = 100;
export const MAX_SCOPE_RULE_LENGTH = 2_048;

/** What operation 11 changes. */
export interface ListingChange {
  /** Assets to associate; with `scopeRules`, also to replace the rules of those that are associated already. */
  add?: readonly { assetUid: string; scopeRules?: readonly { rule: string }[] }[];
  /** Uids of assets to take off. */
  remove?: readonly string[];
}

interface Listing {
  id: number;
  uid: string;
  organization_id: number;
}

interface Asset {
  id: number;
  uid: string;
}

/** An asset and its scope rules to be: `undefined` keeps those that it has, `null` takes the asset off the listing. */
interface Wish extends Asset {
  rules: readonly string[] | undefined | null;
}

/** Assets changed at a time, and told of in one audit event: their old rules must fit in memory. */
const MAX_ASSETS_AT_ONCE = 500;

const insertRules = prepareInsert('scope_rules', {
  assessment_id: 'int',
  asset_id: 'int',
  position: 'int',
  rule: 'text',
});

/**
 * Finds a listing and keeps other changes of its assets out until this one is done.
 */
const holdReachable = perReach((reach) =>
  prepareWrite<ReachParameters & { uid: string }, Listing>((tx, p) =>
    hold(tx, p.uid).where(listingWithin(reach, p)),
  ),
);

const hold = (tx: Transaction, uid: string) =>
  tx
    .selectFrom('assessments')
    .select(['id', 'uid', 'organization_id'])
    .where('uid', '=', uid)
    .modifyEnd(holdingRows(tx));

const reachableAssets = perReach((reach) =>
  prepare<ReachParameters & { organization: number; uids: readonly string[] }, Asset>((db, p) =>
    db
      .selectFrom('assets')
      .select(['assets.id', 'assets.uid'])
      .where((eb) => isOneOf(db, eb.ref('assets.uid'), p.uids))
      .where((eb) => eb(unindexed(eb.ref('assets.organization_id')), '=', p.organization))
      .where(assetWithin(reach, p)),
  ),
);

interface AssetsOfListing {
  listing: number;
  assets: readonly number[];
}

/** One row a rule, in their order; one with `null` for an asset of the listing that has none. */
const currentRules = prepare<AssetsOfListing, { asset_id: number; rule: string | null }>((db, p) =>
  db
    .selectFrom('listing_assets as listed')
    .leftJoin('scope_rules as scope', (join) =>
      join
        .onRef('scope.asset_id', '=', 'listed.asset_id')
        .onRef('scope.assessment_id', '=', 'listed.assessment_id'),
    )
    .select(['listed.asset_id', 'scope.rule'])
    .where('listed.assessment_id', '=', p.listing)
    .where((eb) => isOneOf(db, eb.ref('listed.asset_id'), p.assets))
    .orderBy('listed.asset_id')
    .orderBy('scope.position', (order) => order.asc().nullsFirst()),
);

const insertAssets = prepareUnread<AssetsOfListing>((tx, p) =>
  tx
    .insertInto('listing_assets')
    .columns(['organization_id', 'assessment_id', 'asset_id'])
    .expression(
      tx
        .selectFrom(['assessments', 'assets'])
        .select(['assessments.organization_id', 'assessments.id as assessment_id', 'assets.id as asset_id'])
        .where('assessments.id', '=', p.listing)
        .where((eb) => isOneOf(tx, eb.ref('assets.id'), p.assets)),
    ),
);

/** Their scope rules go with them. */
const deleteAssets = prepareUnread<AssetsOfListing>((tx, p) =>
  tx
    .deleteFrom('listing_assets')
    .where('assessment_id', '=', p.listing)
    .where((eb) => isOneOf(tx, eb.ref('asset_id'), p.assets)),
);

const deleteRules = prepareUnread<AssetsOfListing>((tx, p) =>
  tx
    .deleteFrom('scope_rules')
    .where('assessment_id', '=', p.listing)
    .where((eb) => isOneOf(tx, eb.ref('asset_id'), p.assets)),
);

/**
 * Operation 11: associates assets with a listing and takes others off it; all or nothing. Assets that are unknown, out
 * of the caller's reach or of another organization than the listing are ignored. Of an asset that is in `add` more
 * than once, the last `scopeRules` count: an unknown one may be there twice as well, so it is no error.
 * @throws Failure `invalid` for an asset in both lists, `missing` for the listing
 */
export async function changeListingAssets(
  tx: Transaction,
  act: Act<Caller>,
  listingUid: string,
  { add = [], remove = [] }: ListingChange,
): Promise<void> {
  refuseContradiction(add, remove);
  const { actor: caller } = act;
  const reach = reachOfCaller(caller, ASSET_WRITE_SCOPES);
  const parameters = reachParameters(caller);
  // A uid of another form is no row's, and PostgreSQL cannot look up every text.
  const [listing] = ASSESSMENT_UID.test(listingUid)
    ? await holdReachable(reach)(tx, { ...parameters, uid: listingUid })
    : [];
  if (listing === undefined) throw missing('listing');

  const wishes = new Map<string, Wish['rules']>();
  for (const { assetUid, scopeRules } of add) {
    wishes.set(assetUid, scopeRules?.map(({ rule }) => rule) ?? wishes.get(assetUid));
  }
  for (const uid of remove) wishes.set(uid, null);
  if (wishes.size === 0) return;
  const assets = await reachableAssets(reach)(tx, {
    ...parameters,
    organization: listing.organization_id,
    uids: [...wishes.keys()],
  });
  await grant(
    tx,
    act,
    listing,
    assets.map((asset) => ({ ...asset, rules: wishes.get(asset.uid) })),
  );
}

/**
 * Associates one asset with a listing of its organization, as `changeListingAssets` does, without asking who may.
 * @throws Failure `missing` for either
 */
export async function listAsset(
  tx: Transaction,
  act: Act,
  {
    listing: listingUid,
    assetUid,
    scopeRules,
  }: { listing: string; assetUid: string; scopeRules?: readonly string[] | undefined },
): Promise<void> {
  const listing = await hold(tx, listingUid).executeTakeFirst();
  if (listing === undefined) throw missing('listing');
  const asset = await tx
    .selectFrom('assets')
    .select(['id', 'uid'])
    .where('uid', '=', assetUid)
    .where('organization_id', '=', listing.organization_id)
    .executeTakeFirst();
  if (asset === undefined) throw missing('asset');
  await grant(tx, act, listing, [{ ...asset, rules: scopeRules }]);
}

/** Makes the wishes true, in the listing that this unit of work holds. */
async function grant(tx: Transaction, act: Act, listing: Listing, wishes: readonly Wish[]): Promise<void> {
  for (let start = 0; start < wishes.length; start += MAX_ASSETS_AT_ONCE) {
    await grantSome(tx, act, listing, wishes.slice(start, start + MAX_ASSETS_AT_ONCE));
  }
}

async function grantSome(
  tx: Transaction,
  act: Act,
  listing: Listing,
  wishes: readonly Wish[],
): Promise<void> {
  const current = new Map<number, string[]>();
  const ids = wishes.map(({ id }) => id);
  for (const { asset_id, rule } of await currentRules(tx, { listing: listing.id, assets: ids })) {
    const rules = current.get(asset_id) ?? [];
    if (rule !== null) rules.push(rule);
    current.set(asset_id, rules);
  }

  const added: Wish[] = [];
  const removed: Wish[] = [];
  const replaced: Wish[] = [];
  for (const wish of wishes) {
    const before = current.get(wish.id);
    if (wish.rules === null) {
      if (before !== undefined) removed.push(wish);
    } else if (before === undefined) added.push(wish);
    else if (wish.rules !== undefined && !isSameList(before, wish.rules)) replaced.push(wish);
  }
  const changed = [...added, ...removed, ...replaced];
  if (changed.length === 0) return;

  const some = (list: readonly Wish[]) => ({ listing: listing.id, assets: list.map(({ id }) => id) });
  if (added.length > 0) await insertAssets(tx, some(added));
  if (removed.length > 0) await deleteAssets(tx, some(removed));
  if (replaced.length > 0) await deleteRules(tx, some(replaced));
  const rows = [...added, ...replaced].flatMap(({ id, rules }) =>
    (rules ?? []).map((rule, position) => [listing.id, id, position, rule] as const),
  );
  await insertRules(tx, rows);

  // What stood for each asset and what stands now; null where it was not, or is no longer, in the listing.
  await recordChange(tx, act, {
    action: 'listing.update',
    object: ['assessment', listing.uid],
    organizationId: listing.organization_id,
    before: { assets: Object.fromEntries(changed.map(({ id, uid }) => [uid, current.get(id) ?? null])) },
    after: {
      assets: Object.fromEntries(changed.map(({ uid, rules }) => [uid, rules === undefined ? [] : rules])),
    },
  });
}

function refuseContradiction(add: readonly { assetUid: string }[], remove: readonly string[]): void {
  const removed = new Set(remove);
  const faults = add.flatMap(({ assetUid }, index) =>
    removed.has(assetUid)
      ? [{ property: `add.${index}.assetUid`, message: 'must not be in remove as well', value: assetUid }]
      : [],
  );
  if (faults.length > 0) throw invalid(faults);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
