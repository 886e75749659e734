import { randomBytes } from 'node:crypto';
import { prepareInsert } from '../../db/bulk.ts';
import type { Transaction } from '../../db/engine.ts';
import { nameKey } from '../../db/portable.ts';
import { recordChanges } from '../shared/audit.ts';
import { Failure, type Fault, invalid, missing } from '../shared/failure.ts';
import { nameFault } from '../shared/names.ts';
import { digestOf, MAX_PAIRS_TOLD } from './asset-taggings.ts';
import { reachOfCaller } from '../shared/reach.ts';
import { assetsWithin, type Entity, findOwner, requireAssets, type TagAct } from './tag-owners.ts';

/** Four parameters a row; SQLite takes 32,766 in a statement. */
const ROWS_PER_STATEMENT = 500;

export interface NewAssetTag {
  name: string;
  /** The uids of the assets that get it. */
  assets?: readonly string[];
}

export interface AssetTag {
  uid: string;
  name: string;
  orgUid: string;
  /** The uids of the assets that have it. */
  assets: string[];
}

/** Of new tags, which nothing is attached to yet. */
const insertTaggings = prepareInsert('asset_taggings', {
  tag_id: 'int',
  asset_id: 'int',
  organization_id: 'int',
  owner_id: 'int',
  group_id: 'int',
});

const newTagUid = () => randomBytes(6).toString('hex');

/**
 * Creates tags under an organization or a group of organizations, and attaches them; all or nothing.
 * @param tagUids of the tags, in their order; each of its own where one is absent
 * @returns the tags in the order given
 * @throws Failure `invalid` for a bad or repeated name and for an unknown asset, `missing` for the organization,
 *   `conflict` for a name that exists
 */
export async function createAssetTags(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  newTags: readonly NewAssetTag[],
  tagUids: readonly string[] = newTags.map(newTagUid),
): Promise<AssetTag[]> {
  refuseBadNames(newTags);
  const { actor: caller } = act;
  const reach = reachOfCaller(caller, act.accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  if (owner === undefined) throw missing('organization');

  const wanted = newTags.map(({ assets: uids = [] }) => uids);
  const assets = await assetsWithin(tx, caller, reach, owner, wanted.flat());
  requireAssets(
    assets,
    wanted.map((uids, tag) => ({ uids, property: (index) => `tags.${tag}.assets.${index}` })),
  );

  const rows = newTags.map(({ name }, index) => ({
    uid: tagUids[index] ?? newTagUid(),
    organization_id: owner.id,
    name: name.trim(),
    name_key: nameKey(name),
  }));
  const created: { id: number; name_key: string }[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const inserted = await tx
      .insertInto('asset_tags')
      .values(rows.slice(start, start + ROWS_PER_STATEMENT))
      .onConflict((conflict) => conflict.columns(['organization_id', 'name_key']).doNothing())
      .returning(['id', 'name_key'])
      .execute();
    created.push(...inserted);
  }
  const ids = new Map(created.map((tag) => [tag.name_key, tag.id]));
  const taken = rows.find((row) => !ids.has(row.name_key));
  if (taken !== undefined) {
    throw new Failure('conflict', `A tag named "${taken.name}" exists already in this organization.`, [
      { property: `tags.${rows.indexOf(taken)}.name`, message: 'exists already', value: taken.name },
    ]);
  }

  const tags = rows.map((row, index) => ({
    id: ids.get(row.name_key) as number,
    uid: row.uid,
    name: row.name,
    assets: [...new Set(wanted[index])],
  }));
  const taggings = tags.flatMap(({ id, assets: uids }) =>
    uids.map((uid) => {
      const { id: asset, organization_id: organization } = assets.get(uid) as Entity;
      return [id, asset, organization, owner.id, owner.id === organization ? null : owner.id] as const;
    }),
  );
  await insertTaggings(tx, taggings);
  await recordChanges(
    tx,
    tags.map(({ uid, name, assets: uids }) => ({
      act,
      change: {
        action: 'asset-tag.create',
        object: ['asset-tag', uid],
        organizationId: owner.id,
        before: null,
        after: { name, ...entitiesTold(uids, taggings.length) },
      },
    })),
  );
  return tags.map((tag) => ({ uid: tag.uid, name: tag.name, orgUid, assets: tag.assets }));
}

/** The entities of one tag as the audit log has them; where the request has many pairs, their number and a digest. */
function entitiesTold(uids: readonly string[], pairs: number): object {
  if (pairs <= MAX_PAIRS_TOLD || uids.length === 0) return { entities: uids };
  return { entities: digestOf(uids.map((uid) => `${uid}\n`)) };
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
  if (faults.length > 0) throw invalid(faults);
}
