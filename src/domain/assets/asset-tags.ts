import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { prepareInsertGroups } from '../../db/bulk.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { eachList, nameKey } from '../../db/portable.ts';
import { recordChanges } from '../shared/audit.ts';
import { Failure, type Fault, invalid, missing } from '../shared/failure.ts';
import { nameFault } from '../shared/names.ts';
import { digestOf, MAX_PAIRS_TOLD } from './asset-taggings.ts';
import { reachOfCaller } from '../shared/reach.ts';
import {
  areWithin,
  assetsWithin,
  type Entity,
  findOwner,
  type Owner,
  requireAssets,
  type TagAct,
} from './tag-owners.ts';

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

/** Of new tags, which nothing is attached to yet: a group a tag, and an organization whose assets it gets. */
const insertTaggings = prepareInsertGroups(
  'asset_taggings',
  { tag_id: 'int', organization_id: 'int', owner_id: 'int', group_id: 'int' },
  { column: 'asset_id', kind: 'int' },
);

const newTagUid = () => randomBytes(6).toString('hex');

/** Assets by their uid, as they were before a unit of work began. */
export type KnownAssets = ReadonlyMap<string, Entity>;

/**
 * Looks up what new tags are attached to before the unit of work that makes them: there it would keep others from
 * writing for a third of the time.
 */
export async function knowAssets(
  db: Reader,
  act: TagAct,
  orgUid: string,
  newTags: readonly NewAssetTag[],
): Promise<KnownAssets> {
  const reach = reachOfCaller(act.actor, act.accepted);
  const owner = await findOwner(db, act.actor, reach, orgUid);
  return owner === undefined ? new Map() : assetsWithin(db, act.actor, reach, owner, uidsOf(newTags));
}

const uidsOf = (newTags: readonly NewAssetTag[]) => newTags.flatMap(({ assets = [] }) => assets);

/** @returns what the tags are attached to: what is known of it when that still holds */
async function findAssets(
  tx: Transaction,
  { actor: caller, accepted }: TagAct,
  owner: Owner,
  newTags: readonly NewAssetTag[],
  known: KnownAssets,
): Promise<KnownAssets> {
  const reach = reachOfCaller(caller, accepted);
  const uids = uidsOf(newTags);
  const holds = uids.every((uid) => known.has(uid)) && (await areWithin(tx, caller, reach, owner, known));
  return holds ? known : assetsWithin(tx, caller, reach, owner, uids);
}

/**
 * Creates tags under an organization or a group of organizations, and attaches them; all or nothing.
 * @param given `tagUids` of the tags, in their order; each of its own where one is absent. `known` as `knowAssets`
 *   has found it
 * @returns the tags in the order given
 * @throws Failure `invalid` for a bad or repeated name and for an unknown asset, `missing` for the organization,
 *   `conflict` for a name that exists
 */
export async function createAssetTags(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  newTags: readonly NewAssetTag[],
  { tagUids = [], known = new Map() }: { tagUids?: readonly string[]; known?: KnownAssets } = {},
): Promise<AssetTag[]> {
  refuseBadNames(newTags);
  const owner = await findOwner(tx, act.actor, reachOfCaller(act.actor, act.accepted), orgUid);
  if (owner === undefined) throw missing('organization');

  const wanted = newTags.map(({ assets: uids = [] }) => uids);
  const assets = await findAssets(tx, act, owner, newTags, known);
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
  const created = await insertTags(tx, rows);
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
  const pairs = tags.reduce((sum, tag) => sum + tag.assets.length, 0);
  await insertTaggings(
    tx,
    tags.flatMap(({ id, assets: uids }) =>
      [...byOrganization(uids, assets)].map(([organization, numbers]) => ({
        common: [id, organization, owner.id, owner.id === organization ? null : owner.id],
        numbers,
      })),
    ),
  );
  await recordChanges(
    tx,
    tags.map(({ uid, name, assets: uids }) => ({
      act,
      change: {
        action: 'asset-tag.create',
        object: ['asset-tag', uid],
        organizationId: owner.id,
        before: null,
        after: { name, ...entitiesTold(uids, pairs) },
      },
    })),
  );
  return tags.map((tag) => ({ uid: tag.uid, name: tag.name, orgUid, assets: tag.assets }));
}

interface NewRow {
  uid: string;
  organization_id: number;
  name: string;
  name_key: string;
}

/** @returns the tags whose names nobody has */
async function insertTags(
  tx: Transaction,
  rows: readonly NewRow[],
): Promise<{ id: number; name_key: string }[]> {
  const values = rows.map((row) => [row.uid, row.organization_id, row.name, row.name_key]);
  const inserted = await sql<{ id: number; name_key: string }>`
    insert into asset_tags (uid, organization_id, name, name_key)
    select value ->> 0, cast(value ->> 1 as bigint), value ->> 2, value ->> 3 from ${eachList(tx, values)} where true
    on conflict (organization_id, name_key) do nothing returning id, name_key`.execute(tx);
  return inserted.rows;
}

/** @returns the ids of assets by their organization, of which a group of organizations has several */
function byOrganization(
  uids: readonly string[],
  assets: ReadonlyMap<string, Entity>,
): ReadonlyMap<number, number[]> {
  const organizations = new Map<number, number[]>();
  for (const uid of uids) {
    const { id, organization_id: organization } = assets.get(uid) as Entity;
    const ids = organizations.get(organization);
    if (ids === undefined) organizations.set(organization, [id]);
    else ids.push(id);
  }
  return organizations;
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
