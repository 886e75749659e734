import { createHash } from 'node:crypto';
import { chunked, CHUNK_ROWS } from '../../db/chunks.ts';
import type { Transaction } from '../../db/database.ts';
import { inList, withoutIndex, forKeyShare } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent } from '../audit/record-event.ts';
import { invalidInput, type FieldError } from '../shared/errors.ts';
import {
  findTaggableAssets,
  type TaggableAsset,
  findTagOwner,
  requireTaggableAssets,
  type TagChangeContext,
  tagVisibility,
  unknownUidError,
} from './asset-tag-access.ts';
import { lockRows } from '../shared/lock-rows.ts';

export interface AssetTaggingUpdate {
  /** Uids of tags. */
  tags: readonly string[];
  /** Uids of assets that get every tag. */
  attach?: readonly string[];
  /** Uids of assets that lose every tag. */
  detach?: readonly string[];
}

const tagsByUid = prepareQuery<{ owner: number; uids: readonly string[] }, { id: number; uid: string }>(
  (db, p) =>
    db
      .selectFrom('asset_tags')
      .select(['id', 'uid'])
      .where((eb) => eb(withoutIndex(eb.ref('organization_id')), '=', p.owner))
      .where((eb) => inList(db, eb.ref('uid'), p.uids)),
);

/** Pairs. For more, the audit log has their number and a digest: one request can change thousands. */
export const MAX_AUDITED_PAIRS = 300;

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
        .where((eb) => inList(tx, eb.ref('asset_tags.id'), p.tags))
        .where((eb) => inList(tx, eb.ref('assets.id'), p.assets)),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['tag_id', 'asset_id']),
);

const detachPairs = prepareWrite<{ tags: readonly number[]; assets: readonly number[] }, Pair>((tx, p) =>
  tx
    .deleteFrom('asset_taggings')
    .where((eb) => inList(tx, eb.ref('tag_id'), p.tags))
    .where((eb) => inList(tx, eb.ref('asset_id'), p.assets))
    .returning(['tag_id', 'asset_id']),
);

/**
 * Attaches tags to assets and detaches them from others, all or nothing.
 * @throws DomainError `invalid` for an unknown tag or asset, and for an asset in both lists, `forbidden` for an asset
 *   that the caller can only read
 */
export async function tagAssets(
  tx: Transaction,
  by: TagChangeContext,
  orgUid: string,
  { tags: uids, attach = [], detach = [] }: AssetTaggingUpdate,
): Promise<void> {
  rejectOverlap(attach, detach);
  const { actor: caller } = by;
  const owner = await findTagOwner(tx, by, orgUid);
  const [tagRows, assets] =
    owner === undefined
      ? [[], new Map<string, TaggableAsset>()]
      : await Promise.all([
          tagsByUid(tx, { owner: owner.id, uids }),
          findTaggableAssets(tx, caller, tagVisibility(by), owner, [...attach, ...detach]),
        ]);
  const tags = new Map(tagRows.map((tag) => [tag.uid, tag.id]));
  const unknownTags = uids.flatMap((uid, index) =>
    tags.has(uid) ? [] : [unknownUidError(`tags.${index}`, 'tag', uid)],
  );
  if (owner === undefined || unknownTags.length > 0) throw invalidInput(unknownTags);

  await requireTaggableAssets(tx, by, owner, assets, [
    { uids: attach, property: (index) => `attach.${index}` },
    { uids: detach, property: (index) => `detach.${index}` },
  ]);
  const idsOf = (list: readonly string[]) => list.map((uid) => (assets.get(uid) as TaggableAsset).id);
  const toAttach = idsOf(attach);
  const toDetach = idsOf(detach);
  const tagIds = [...tags.values()];
  // A deletion of a tag or an asset could otherwise hold one of several taggings and wait for another.
  if (tagIds.length * toDetach.length > 1) {
    await lockRows(tx, 'asset_tags', tagIds, forKeyShare);
    await lockRows(tx, 'assets', [...toAttach, ...toDetach], forKeyShare);
  }
  // No asset is in both lists: both run at once.
  const [attached, detached] = await Promise.all([
    applyToPairs(attachPairs, tx, tagIds, toAttach),
    applyToPairs(detachPairs, tx, tagIds, toDetach),
  ]);
  if (attached.length === 0 && detached.length === 0) return;
  const tagUids = new Map([...tags].map(([uid, id]) => [id, uid]));
  const assetUids = new Map([...assets].map(([uid, { id }]) => [id, uid]));
  const snapshot = (pairs: readonly Pair[]) =>
    auditedPairs(
      pairs.map((pair) => [tagUids.get(pair.tag_id) ?? '', assetUids.get(pair.asset_id) ?? ''] as const),
    );
  await recordEvent(tx, by, {
    action: 'asset-tag.attach',
    object: ['organization', orgUid],
    organizationId: owner.id,
    before: { detached: snapshot(detached) },
    after: { attached: snapshot(attached) },
  });
}

async function applyToPairs(
  change: typeof attachPairs,
  tx: Transaction,
  tags: readonly number[],
  assets: readonly number[],
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  if (assets.length === 0) return pairs;
  for (const chunk of chunked(tags, CHUNK_ROWS / assets.length))
    pairs.push(...(await change(tx, { tags: chunk, assets })));
  return pairs;
}

/** Returns the pairs by tag; if there are many, their number and a digest. */
function auditedPairs(pairs: readonly (readonly [tag: string, entity: string])[]): object {
  if (pairs.length > MAX_AUDITED_PAIRS)
    return digestLines(pairs.map(([tag, entity]) => `${tag} ${entity}\n`));
  const entities: Record<string, string[]> = {};
  for (const [tag, entity] of pairs) (entities[tag] ??= []).push(entity);
  return entities;
}

/** @returns the number of lines, and the SHA-256 of the sorted lines in hexadecimal */
export function digestLines(lines: readonly string[]): { count: number; sha256: string } {
  const text = [...lines].sort().join('');
  return { count: lines.length, sha256: createHash('sha256').update(text).digest('hex') };
}

function rejectOverlap(attach: readonly string[], detach: readonly string[]): void {
  const detached = new Set(detach);
  const errors = attach.flatMap((uid, index): FieldError[] =>
    detached.has(uid)
      ? [
          {
            property: `attach.${index}`,
            code: 'also-in',
            params: { other: 'detach' },
            value: uid,
          },
        ]
      : [],
  );
  if (errors.length > 0) throw invalidInput(errors);
}
