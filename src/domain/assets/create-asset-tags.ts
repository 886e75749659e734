import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { prepareGroupedInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import { recordEvents } from '../audit/record-event.ts';
import { DomainError, type FieldError, invalidInput, notFound } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';
import { digestLines, MAX_AUDITED_PAIRS } from './tag-assets.ts';
import { visibilityByScopes } from '../shared/visibility.ts';
import {
  areTaggable,
  findTaggableAssets,
  type TaggableAsset,
  findTagOwner,
  type TagOwner,
  requireTaggableAssets,
  type TagChangeContext,
} from './asset-tag-access.ts';
import { foldName } from '../../lib/fold-case.ts';

export interface NewAssetTag {
  name: string;
  /** Uids of assets. */
  assets?: readonly string[];
}

export interface AssetTag {
  uid: string;
  name: string;
  orgUid: string;
  /** Uids of assets. */
  assets: string[];
}

/** One group per new tag and organization of its assets. */
const insertTaggings = prepareGroupedInsert(
  'asset_taggings',
  { tag_id: 'int', organization_id: 'int', owner_id: 'int', group_id: 'int' },
  { column: 'asset_id', kind: 'int' },
);

const newTagUid = () => randomBytes(6).toString('hex');

/** The tags and taggings that a request creates. */
export interface AssetTagPlan {
  owner: TagOwner;
  tags: readonly PlannedTag[];
  /** Of all assets that get a tag, ascending. */
  assetIds: readonly number[];
}

interface PlannedTag {
  uid: string;
  name: string;
  /** Uids, each once. */
  assets: string[];
  /** Their ids by organization: a group of organizations has several. */
  ids: ReadonlyMap<number, number[]>;
  /** The `after` of its audit event. */
  audited: object;
}

/**
 * Plans new tags. Runs before the transaction that creates them, so that it does not block writers.
 * @param tagUids of the tags, in order; generated when absent
 * @throws DomainError `invalid` for a bad or repeated name and for an unknown asset, `not-found` for the organization
 */
export async function planAssetTags(
  db: ReadConnection,
  { actor: caller, accepted }: TagChangeContext,
  orgUid: string,
  newTags: readonly NewAssetTag[],
  tagUids: readonly string[] = [],
): Promise<AssetTagPlan> {
  validateNames(newTags);
  const visibility = visibilityByScopes(caller, accepted);
  const owner = await findTagOwner(db, caller, visibility, orgUid);
  if (owner === undefined) throw notFound('organization');
  const uidsByTag = newTags.map(({ assets: uids = [] }) => uids);
  const assets = await findTaggableAssets(db, caller, visibility, owner, uidsByTag.flat());
  requireTaggableAssets(
    assets,
    uidsByTag.map((uids, tag) => ({ uids, property: (index) => `tags.${tag}.assets.${index}` })),
  );
  const unique = uidsByTag.map((uids) => [...new Set(uids)]);
  const pairs = unique.reduce((sum, uids) => sum + uids.length, 0);
  return {
    owner,
    tags: newTags.map(({ name }, index): PlannedTag => {
      const uids = unique[index] ?? [];
      return {
        uid: tagUids[index] ?? newTagUid(),
        name: name.trim(),
        assets: uids,
        ids: groupByOrganization(uids, assets),
        audited: { name: name.trim(), ...auditedAssets(uids, pairs) },
      };
    }),
    assetIds: Array.from(assets.values(), ({ id }) => id).sort((one, other) => one - other),
  };
}

/** @returns whether everything in the plan is still visible */
async function isStillVisible(
  tx: Transaction,
  { actor: caller, accepted }: TagChangeContext,
  orgUid: string,
  { owner, assetIds }: AssetTagPlan,
): Promise<boolean> {
  const visibility = visibilityByScopes(caller, accepted);
  const found = await findTagOwner(tx, caller, visibility, orgUid);
  return found?.id === owner.id && (await areTaggable(tx, caller, visibility, owner, assetIds));
}

/**
 * Creates tags of an organization or a group of organizations and attaches them, all or nothing.
 * @param plan from `planAssetTags` for the same input; planned again when it is outdated
 * @returns the tags in the order of the input
 * @throws DomainError as `planAssetTags`, `conflict` for a name that exists
 */
export async function createAssetTags(
  tx: Transaction,
  by: TagChangeContext,
  orgUid: string,
  newTags: readonly NewAssetTag[],
  plan?: AssetTagPlan,
): Promise<AssetTag[]> {
  const { owner, tags } =
    plan !== undefined && (await isStillVisible(tx, by, orgUid, plan))
      ? plan
      : await planAssetTags(tx, by, orgUid, newTags);
  const created = await insertTags(
    tx,
    tags.map(({ uid, name }) => ({
      uid,
      organization_id: owner.id,
      name,
      normalized_name: foldName(name),
    })),
  );
  const ids = new Map(created.map((tag) => [tag.uid, tag.id]));
  const taken = tags.findIndex(({ uid }) => !ids.has(uid));
  const name = tags[taken]?.name;
  if (name !== undefined) {
    throw new DomainError('tag-exists', { name }, [
      { property: `tags.${taken}.name`, code: 'already-exists', value: name },
    ]);
  }

  await insertTaggings(
    tx,
    tags.flatMap((tag) =>
      [...tag.ids].map(([organization, numbers]) => ({
        common: [
          ids.get(tag.uid) as number,
          organization,
          owner.id,
          owner.id === organization ? null : owner.id,
        ],
        numbers,
      })),
    ),
  );
  await recordEvents(
    tx,
    tags.map(({ uid, audited }) => ({
      by,
      change: {
        action: 'asset-tag.create',
        object: ['asset-tag', uid],
        organizationId: owner.id,
        before: null,
        after: audited,
      },
    })),
  );
  return tags.map((tag) => ({ uid: tag.uid, name: tag.name, orgUid, assets: tag.assets }));
}

type NewTagRow = Omit<Row<'asset_tags'>, 'id' | 'version'>;

/** @returns the inserted tags; tags whose name exists are absent */
async function insertTags(
  tx: Transaction,
  rows: readonly NewTagRow[],
): Promise<{ id: number; uid: string }[]> {
  const values = rows.map((row) => [row.uid, row.organization_id, row.name, row.normalized_name]);
  const inserted = await sql<{ id: number; uid: string }>`
    insert into asset_tags (uid, organization_id, name, normalized_name)
    select value ->> 0, cast(value ->> 1 as bigint), value ->> 2, value ->> 3 from ${jsonRowsTable(tx, values)} where true
    on conflict (organization_id, normalized_name) do nothing returning id, uid`.execute(tx);
  return inserted.rows;
}

function groupByOrganization(
  uids: readonly string[],
  assets: ReadonlyMap<string, TaggableAsset>,
): ReadonlyMap<number, number[]> {
  const organizations = new Map<number, number[]>();
  for (const uid of uids) {
    const { id, organization_id: organization } = assets.get(uid) as TaggableAsset;
    const ids = organizations.get(organization);
    if (ids === undefined) organizations.set(organization, [id]);
    else ids.push(id);
  }
  return organizations;
}

/** The assets of one tag for the audit log; for many pairs, their number and a digest. */
function auditedAssets(uids: readonly string[], pairs: number): object {
  if (pairs <= MAX_AUDITED_PAIRS || uids.length === 0) return { entities: uids };
  return { entities: digestLines(uids.map((uid) => `${uid}\n`)) };
}

function validateNames(tags: readonly NewAssetTag[]): void {
  const seen = new Set<string>();
  const errors = tags.flatMap(({ name }, index): FieldError[] => {
    const property = `tags.${index}.name`;
    const error = validateName(property, name);
    if (error !== undefined) return [error];
    const key = foldName(name);
    if (seen.has(key)) return [{ property, code: 'duplicate', value: name }];
    seen.add(key);
    return [];
  });
  if (errors.length > 0) throw invalidInput(errors);
}
