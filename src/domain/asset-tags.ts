import { randomBytes } from 'node:crypto';
import type { Caller } from '../auth/callers.ts';
import type { Scope } from '../auth/scopes.ts';
import type { Transaction } from '../db/engine.ts';
import { isOneOf, nameKey, unindexed } from '../db/portable.ts';
import { prepare, prepareWrite } from '../db/prepared.ts';
import { recordChange } from './audit.ts';
import { Failure, type Fault, invalid, missing } from './failure.ts';
import { nameFault } from './names.ts';
import {
  assetWithin,
  type CallerReach,
  organizationWithin,
  perReach,
  reachOfCaller,
  reachParameters,
  type ReachParameters,
} from './reach.ts';

export interface NewAssetTag {
  name: string;
  entities?: readonly { uid: string }[];
}

export interface AssetTag {
  uid: string;
  name: string;
  orgUid: string;
  entities: { uid: string; entityType: 'asset' }[];
}

export interface AssetTagging {
  /** Tags to change. */
  uids: readonly string[];
  /** Entities to attach to each of them. */
  addEntities?: readonly { uid: string }[];
  /** Entities to detach from each of them. */
  delEntityUids?: readonly string[];
}

/** Who calls, with the scopes that the operation accepts. */
export interface TagCaller {
  caller: Caller;
  accepted: readonly Scope[];
  /** Milliseconds since 1970. */
  now: number;
}

interface Owner {
  id: number;
  kind: 'organization' | 'group';
}

const ownerQuery = perReach((reach) =>
  prepare<ReachParameters & { uid: string }, Owner>((db, p) =>
    db
      .selectFrom('organizations')
      .select(['id', 'kind'])
      .where('uid', '=', p.uid)
      .where(organizationWithin(reach, p)),
  ),
);

const assetsQuery = perReach((reach) =>
  prepare<ReachParameters & { owner: number; uids: readonly string[] }, { id: number; uid: string }>(
    (db, p) =>
      db
        .selectFrom('assets')
        .select(['assets.id', 'assets.uid'])
        .where((eb) => isOneOf(db, eb.ref('assets.uid'), p.uids))
        .where((eb) =>
          eb.or([
            eb(unindexed(eb.ref('assets.organization_id')), '=', p.owner),
            eb.exists(
              eb
                .selectFrom('organization_group_members as member')
                .select('member.organization_id')
                .whereRef('member.organization_id', '=', 'assets.organization_id')
                .where('member.group_id', '=', p.owner),
            ),
          ]),
        )
        .where(assetWithin(reach, p)),
  ),
);

const tagsByUid = prepare<{ owner: number; uids: readonly string[] }, { id: number; uid: string }>((db, p) =>
  db
    .selectFrom('asset_tags')
    .select(['id', 'uid'])
    .where((eb) => eb(unindexed(eb.ref('organization_id')), '=', p.owner))
    .where((eb) => isOneOf(db, eb.ref('uid'), p.uids)),
);

interface Pair {
  tag_id: number;
  asset_id: number;
}

const attach = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
  tx
    .insertInto('asset_taggings')
    .columns(['tag_id', 'asset_id'])
    .expression(
      tx
        .selectFrom(['asset_tags', 'assets'])
        .select(['asset_tags.id as tag_id', 'assets.id as asset_id'])
        .where((eb) => isOneOf(tx, eb.ref('asset_tags.id'), p.tags))
        .where((eb) => isOneOf(tx, eb.ref('assets.id'), p.assets)),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['tag_id', 'asset_id']),
);

const detach = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
  tx
    .deleteFrom('asset_taggings')
    .where((eb) => isOneOf(tx, eb.ref('tag_id'), p.tags))
    .where((eb) => isOneOf(tx, eb.ref('asset_id'), p.assets))
    .returning(['tag_id', 'asset_id']),
);

/**
 * Creates tags under an organization or a group of organizations, and attaches them; all or nothing.
 * @returns the tags in the order given
 * @throws Failure `invalid` for a bad or repeated name and for an unknown entity, `missing` for the organization,
 *   `conflict` for a name that exists
 */
export async function createAssetTags(
  tx: Transaction,
  { caller, accepted, now }: TagCaller,
  orgUid: string,
  newTags: readonly NewAssetTag[],
): Promise<AssetTag[]> {
  refuseBadNames(newTags);
  const reach = reachOfCaller(caller, accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  if (owner === undefined) throw missing('organization');

  const entities = newTags.flatMap(({ entities: list = [] }, tag) =>
    list.map(({ uid }, index) => ({ uid, property: `tags.${tag}.entities.${index}.uid` })),
  );
  const assets = await findAssets(tx, caller, reach, owner, entities);

  const rows = newTags.map(({ name }) => ({
    uid: randomBytes(6).toString('hex'),
    organization_id: owner.id,
    name: name.trim(),
    name_key: nameKey(name),
  }));
  const created = await tx
    .insertInto('asset_tags')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name_key']).doNothing())
    .returning(['id', 'name_key'])
    .execute();
  const ids = new Map(created.map((tag) => [tag.name_key, tag.id]));
  const taken = rows.find((row) => !ids.has(row.name_key));
  if (taken !== undefined) {
    throw new Failure('conflict', `A tag named "${taken.name}" exists already in this organization.`, [
      { property: `tags.${rows.indexOf(taken)}.name`, message: 'exists already', value: taken.name },
    ]);
  }

  const tags: AssetTag[] = [];
  for (const [index, row] of rows.entries()) {
    const id = ids.get(row.name_key) as number;
    const uids = [...new Set(newTags[index]?.entities?.map(({ uid }) => uid) ?? [])];
    const assetIds = uids.map((uid) => assets.get(uid) as number);
    if (assetIds.length > 0) await attach(tx, { tags: [id], assets: assetIds });
    tags.push({
      uid: row.uid,
      name: row.name,
      orgUid,
      entities: uids.map((uid) => ({ uid, entityType: 'asset' })),
    });
    await recordChange(tx, caller, {
      at: now,
      action: 'asset-tag.create',
      object: ['asset-tag', row.uid],
      organizationId: owner.id,
      before: null,
      after: { name: row.name, entities: uids },
    });
  }
  return tags;
}

/**
 * Attaches entities to tags and detaches others from them; all or nothing. What is attached or detached already stays.
 * @throws Failure `invalid` for an unknown tag or entity, and for an entity in both lists
 */
export async function changeAssetTaggings(
  tx: Transaction,
  { caller, accepted, now }: TagCaller,
  orgUid: string,
  { uids, addEntities = [], delEntityUids = [] }: AssetTagging,
): Promise<void> {
  refuseContradiction(addEntities, delEntityUids);
  const reach = reachOfCaller(caller, accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  const found = owner === undefined ? [] : await tagsByUid(tx, { owner: owner.id, uids });
  const tags = new Map(found.map((tag) => [tag.uid, tag.id]));
  const unknownTags = uids.flatMap((uid, index) =>
    tags.has(uid) ? [] : [unknown(`uids.${index}`, 'tag', uid)],
  );
  if (owner === undefined || unknownTags.length > 0) throw invalid(...unknownTags);

  const assets = await findAssets(tx, caller, reach, owner, [
    ...addEntities.map(({ uid }, index) => ({ uid, property: `addEntities.${index}.uid` })),
    ...delEntityUids.map((uid, index) => ({ uid, property: `delEntityUids.${index}` })),
  ]);
  const idsOf = (list: readonly string[]) => list.map((uid) => assets.get(uid) as number);
  const tagIds = [...tags.values()];
  const added =
    addEntities.length === 0
      ? []
      : await attach(tx, { tags: tagIds, assets: idsOf(addEntities.map(({ uid }) => uid)) });
  const removed =
    delEntityUids.length === 0 ? [] : await detach(tx, { tags: tagIds, assets: idsOf(delEntityUids) });
  if (added.length === 0 && removed.length === 0) return;

  const tagUids = new Map([...tags].map(([uid, id]) => [id, uid]));
  const assetUids = new Map([...assets].map(([uid, id]) => [id, uid]));
  const pairs = (list: readonly Pair[]) =>
    list.map((pair) => ({ tag: tagUids.get(pair.tag_id), entity: assetUids.get(pair.asset_id) }));
  await recordChange(tx, caller, {
    at: now,
    action: 'asset-tag.attach',
    object: ['organization', orgUid],
    organizationId: owner.id,
    before: { detached: pairs(removed) },
    after: { attached: pairs(added) },
  });
}

function refuseBadNames(tags: readonly NewAssetTag[]): void {
  const seen = new Set<string>();
  const faults = tags.flatMap(({ name }, index): Fault[] => {
    const property = `tags.${index}.name`;
    const fault = nameFault(property, name);
    if (fault !== undefined) return [fault];
    const key = nameKey(name);
    if (seen.has(key)) return [{ property, message: 'is in the request more than once', value: name }];
    seen.add(key);
    return [];
  });
  if (faults.length > 0) throw invalid(...faults);
}

function refuseContradiction(add: readonly { uid: string }[], remove: readonly string[]): void {
  const removed = new Set(remove);
  const faults = add.flatMap(({ uid }, index) =>
    removed.has(uid)
      ? [
          {
            property: `addEntities.${index}.uid`,
            message: 'must not be in delEntityUids as well',
            value: uid,
          },
        ]
      : [],
  );
  if (faults.length > 0) throw invalid(...faults);
}

async function findOwner(
  tx: Transaction,
  caller: Caller,
  reach: CallerReach,
  uid: string,
): Promise<Owner | undefined> {
  return (await ownerQuery(reach)(tx, { ...reachParameters(caller), uid }))[0];
}

/** @returns the ids of the entities by uid, when the caller reaches each of them within the owner */
async function findAssets(
  tx: Transaction,
  caller: Caller,
  reach: CallerReach,
  owner: Owner,
  entities: readonly { uid: string; property: string }[],
): Promise<Map<string, number>> {
  if (entities.length === 0) return new Map();
  const uids = [...new Set(entities.map(({ uid }) => uid))];
  const rows = await assetsQuery(reach)(tx, { ...reachParameters(caller), owner: owner.id, uids });
  const ids = new Map(rows.map((row) => [row.uid, row.id]));
  const faults = entities.flatMap(({ uid, property }) =>
    ids.has(uid) ? [] : [unknown(property, 'asset', uid)],
  );
  if (faults.length > 0) throw invalid(...faults);
  return ids;
}

function unknown(property: string, thing: string, value: string): Fault {
  return {
    property,
    message: `is not the uid of ${thing === 'asset' ? 'an asset' : 'a tag'} that you can reach here`,
    value,
  };
}
