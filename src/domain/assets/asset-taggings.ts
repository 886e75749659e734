import type { Transaction } from '../../db/engine.ts';
import { isOneOf, unindexed } from '../../db/portable.ts';
import { prepare, prepareWrite } from '../../db/prepared.ts';
import { recordChange } from '../shared/audit.ts';
import { invalid } from '../shared/failure.ts';
import { reachOfCaller } from '../shared/reach.ts';
import { assetsWithin, findOwner, requireAssets, type TagAct, unknown } from './tag-owners.ts';

export interface AssetTagging {
  /** Tags to change. */
  uids: readonly string[];
  /** Entities to attach to each of them. */
  addEntities?: readonly { uid: string }[];
  /** Entities to detach from each of them. */
  delEntityUids?: readonly string[];
}

const tagsByUid = prepare<{ owner: number; uids: readonly string[] }, { id: number; uid: string }>((db, p) =>
  db
    .selectFrom('asset_tags')
    .select(['id', 'uid'])
    .where((eb) => eb(unindexed(eb.ref('organization_id')), '=', p.owner))
    .where((eb) => isOneOf(db, eb.ref('uid'), p.uids)),
);

/** A request can ask for a million pairs; so many are written, and told of in one audit event, at a time. */
const PAIRS_AT_ONCE = 20_000;

interface Pair {
  tag_id: number;
  asset_id: number;
}

export const attach = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
  tx
    .insertInto('asset_taggings')
    .columns(['tag_id', 'asset_id', 'organization_id', 'owner_id', 'group_id'])
    .expression(
      tx
        .selectFrom(['asset_tags', 'assets'])
        .select((eb) => [
          'asset_tags.id as tag_id',
          'assets.id as asset_id',
          'assets.organization_id',
          'asset_tags.organization_id as owner_id',
          eb
            .fn<number | null>('nullif', ['asset_tags.organization_id', 'assets.organization_id'])
            .as('group_id'),
        ])
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
 * Attaches entities to tags and detaches others from them; all or nothing. What is attached or detached already stays.
 * @throws Failure `invalid` for an unknown tag or entity, and for an entity in both lists
 */
export async function changeAssetTaggings(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  { uids, addEntities = [], delEntityUids = [] }: AssetTagging,
): Promise<void> {
  refuseContradiction(addEntities, delEntityUids);
  const { actor: caller } = act;
  const reach = reachOfCaller(caller, act.accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  const [found, foundAssets] =
    owner === undefined
      ? [[], new Map<string, number>()]
      : await Promise.all([
          tagsByUid(tx, { owner: owner.id, uids }),
          assetsWithin(tx, caller, reach, owner, [...addEntities.map(({ uid }) => uid), ...delEntityUids]),
        ]);
  const tags = new Map(found.map((tag) => [tag.uid, tag.id]));
  const unknownTags = uids.flatMap((uid, index) =>
    tags.has(uid) ? [] : [unknown(`uids.${index}`, 'tag', uid)],
  );
  if (owner === undefined || unknownTags.length > 0) throw invalid(unknownTags);

  const assets = requireAssets(foundAssets, [
    ...addEntities.map(({ uid }, index) => ({ uid, property: `addEntities.${index}.uid` })),
    ...delEntityUids.map((uid, index) => ({ uid, property: `delEntityUids.${index}` })),
  ]);
  const idsOf = (list: readonly string[]) => list.map((uid) => assets.get(uid) as number);
  const toAttach = idsOf(addEntities.map(({ uid }) => uid));
  const toDetach = idsOf(delEntityUids);
  const tagUids = new Map([...tags].map(([uid, id]) => [id, uid]));
  const assetUids = new Map([...assets].map(([uid, id]) => [id, uid]));
  const byTag = (pairs: readonly Pair[]) => {
    const entities: Record<string, string[]> = {};
    for (const pair of pairs) {
      (entities[tagUids.get(pair.tag_id) as string] ??= []).push(assetUids.get(pair.asset_id) as string);
    }
    return entities;
  };
  const tagIds = [...tagUids.keys()];
  const step = Math.max(1, Math.floor(PAIRS_AT_ONCE / Math.max(1, toAttach.length, toDetach.length)));
  for (let start = 0; start < tagIds.length; start += step) {
    const some = tagIds.slice(start, start + step);
    // No asset is in both, so neither waits for the other.
    const [added, removed] = await Promise.all([
      toAttach.length === 0 ? [] : attach(tx, { tags: some, assets: toAttach }),
      toDetach.length === 0 ? [] : detach(tx, { tags: some, assets: toDetach }),
    ]);
    if (added.length === 0 && removed.length === 0) continue;
    await recordChange(tx, act, {
      action: 'asset-tag.attach',
      object: ['organization', orgUid],
      organizationId: owner.id,
      before: { detached: byTag(removed) },
      after: { attached: byTag(added) },
    });
  }
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
  if (faults.length > 0) throw invalid(faults);
}
