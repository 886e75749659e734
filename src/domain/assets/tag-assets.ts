import { createHash } from 'node:crypto';
import { piecesOf, ROWS_AT_ONCE } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { isOneOf, unindexed } from '../../db/dialect-sql.ts';
import { prepare, prepareWrite } from '../../db/prepared-queries.ts';
import { recordChange } from '../audit/record-event.ts';
import { invalid } from '../shared/errors.ts';
import { reachOfCaller } from '../shared/visibility.ts';
import {
  assetsWithin,
  type Entity,
  findOwner,
  requireAssets,
  type TagAct,
  unknown,
} from './asset-tag-access.ts';

export interface AssetTagging {
  /** The uids of the tags to change. */
  tags: readonly string[];
  /** The uids of assets to attach to each of them. */
  attach?: readonly string[];
  /** The uids of assets to detach from each of them. */
  detach?: readonly string[];
}

const tagsByUid = prepare<{ owner: number; uids: readonly string[] }, { id: number; uid: string }>((db, p) =>
  db
    .selectFrom('asset_tags')
    .select(['id', 'uid'])
    .where((eb) => eb(unindexed(eb.ref('organization_id')), '=', p.owner))
    .where((eb) => isOneOf(db, eb.ref('uid'), p.uids)),
);

/** Of more pairs than this the audit log has their number and a digest: one request can touch many thousands. */
export const MAX_PAIRS_TOLD = 300;

interface Pair {
  tag_id: number;
  asset_id: number;
}

const attachPairs = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
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

const detachPairs = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
  tx
    .deleteFrom('asset_taggings')
    .where((eb) => isOneOf(tx, eb.ref('tag_id'), p.tags))
    .where((eb) => isOneOf(tx, eb.ref('asset_id'), p.assets))
    .returning(['tag_id', 'asset_id']),
);

/**
 * Attaches assets to tags and detaches others from them; all or nothing. What is attached or detached already stays.
 * @throws Failure `invalid` for an unknown tag or asset, and for an asset in both lists
 */
export async function changeAssetTaggings(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  { tags: uids, attach = [], detach = [] }: AssetTagging,
): Promise<void> {
  refuseContradiction(attach, detach);
  const { actor: caller } = act;
  const reach = reachOfCaller(caller, act.accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  const [found, assets] =
    owner === undefined
      ? [[], new Map<string, Entity>()]
      : await Promise.all([
          tagsByUid(tx, { owner: owner.id, uids }),
          assetsWithin(tx, caller, reach, owner, [...attach, ...detach]),
        ]);
  const tags = new Map(found.map((tag) => [tag.uid, tag.id]));
  const unknownTags = uids.flatMap((uid, index) =>
    tags.has(uid) ? [] : [unknown(`tags.${index}`, 'tag', uid)],
  );
  if (owner === undefined || unknownTags.length > 0) throw invalid(unknownTags);

  requireAssets(assets, [
    { uids: attach, property: (index) => `attach.${index}` },
    { uids: detach, property: (index) => `detach.${index}` },
  ]);
  const idsOf = (list: readonly string[]) => list.map((uid) => (assets.get(uid) as Entity).id);
  const toAttach = idsOf(attach);
  const toDetach = idsOf(detach);
  const tagIds = [...tags.values()];
  // No asset is in both, so neither waits for the other.
  const [attached, detached] = await Promise.all([
    changePairs(attachPairs, tx, tagIds, toAttach),
    changePairs(detachPairs, tx, tagIds, toDetach),
  ]);
  if (attached.length === 0 && detached.length === 0) return;
  const tagUids = new Map([...tags].map(([uid, id]) => [id, uid]));
  const assetUids = new Map([...assets].map(([uid, { id }]) => [id, uid]));
  const told = (pairs: readonly Pair[]) =>
    tellPairs(
      pairs.map((pair) => [tagUids.get(pair.tag_id) ?? '', assetUids.get(pair.asset_id) ?? ''] as const),
    );
  await recordChange(tx, act, {
    action: 'asset-tag.attach',
    object: ['organization', orgUid],
    organizationId: owner.id,
    before: { detached: told(detached) },
    after: { attached: told(attached) },
  });
}

async function changePairs(
  change: typeof attachPairs,
  tx: Transaction,
  tags: readonly number[],
  assets: readonly number[],
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  if (assets.length === 0) return pairs;
  for (const some of piecesOf(tags, ROWS_AT_ONCE / assets.length))
    pairs.push(...(await change(tx, { tags: some, assets })));
  return pairs;
}

/** The entities of each tag; of many pairs their number and a digest. */
function tellPairs(pairs: readonly (readonly [tag: string, entity: string])[]): object {
  if (pairs.length > MAX_PAIRS_TOLD) return digestOf(pairs.map(([tag, entity]) => `${tag} ${entity}\n`));
  const entities: Record<string, string[]> = {};
  for (const [tag, entity] of pairs) (entities[tag] ??= []).push(entity);
  return entities;
}

/** @returns how many lines there are, and the SHA-256, hexadecimal, of them sorted: a list at hand can be checked by it */
export function digestOf(lines: readonly string[]): { count: number; sha256: string } {
  const text = [...lines].sort().join('');
  return { count: lines.length, sha256: createHash('sha256').update(text).digest('hex') };
}

function refuseContradiction(attach: readonly string[], detach: readonly string[]): void {
  const detached = new Set(detach);
  const faults = attach.flatMap((uid, index) =>
    detached.has(uid)
      ? [
          {
            property: `attach.${index}`,
            message: 'must not be in detach as well',
            other: 'detach',
            value: uid,
          },
        ]
      : [],
  );
  if (faults.length > 0) throw invalid(faults);
}
