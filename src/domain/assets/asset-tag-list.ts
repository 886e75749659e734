import { type Expression, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import { TAG_SCOPES } from '../../auth/scopes.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import { notFound } from '../shared/errors.ts';
import { type Filter, integerFilter, type ListContext, searchFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  inAccessibleOrganization,
  type Visibility,
  visibilityByScopes,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { findTagOwner, ORGANIZATION_UID } from './asset-tag-access.ts';

/** A tag with its visible assets. */
export interface AssetTagView {
  uid: string;
  name: string;
  orgUid: string;
  version: number;
  entityCount: number;
  /** The uids of the first assets; only on request. */
  entities?: string[];
}

type AssetTagRow = Pick<Row<'asset_tags'>, 'id' | 'uid' | 'name' | 'version'> & { org_uid: string };

export const MAX_ENTITIES = 1_000;

const tagVisibility = (caller: Caller) => visibilityByScopes(caller, TAG_SCOPES, 'read');

/** The tags of one organization or group of organizations (operation 70). */
export const assetTagList = defineList({
  name: 'asset-tags',
  rows: ({ db, caller }) => {
    const p = visibilityParameters(caller);
    return db
      .selectFrom((eb) =>
        eb
          .selectFrom('asset_tags as tag')
          .innerJoin('organizations as owner', 'owner.id', 'tag.organization_id')
          .select([
            'tag.id',
            'tag.uid',
            'tag.organization_id',
            'tag.name',
            'tag.normalized_name',
            'tag.version',
            'owner.uid as org_uid',
            sql<number>`(select count(*) from ${visibleTaggings(tagVisibility(caller), p)} and tagging.tag_id = tag.id)`.as(
              'entity_count',
            ),
          ])
          .as('asset_tags'),
      )
      .select(['id', 'uid', 'name', 'org_uid', 'version']);
  },
  id: 'asset_tags.id',
  organization: 'asset_tags.organization_id',
  filters: {
    owner: integerFilter('asset_tags.organization_id'),
    search: searchFilter('asset_tags.normalized_name'),
    entityUid: onAssets(),
    includeEntities: { kind: 'flag' },
  },
  sorts: {
    name: { column: 'asset_tags.name', type: 'text' },
    entityCount: { column: 'asset_tags.entity_count', type: 'integer' },
  },
  // A tag can list a thousand assets.
  batchSize: 20,
  hydrate: ({ db, caller }, rows, { includeEntities = false }) => readTags(db, caller, rows, includeEntities),
});

function onAssets(): Filter<'texts'> {
  return {
    kind: 'texts',
    pattern: '^[0-9a-f]{24}$',
    where: ({ db, caller }, uids) => sql<SqlBool>`asset_tags.id in (
      select tagging.tag_id from asset_taggings as tagging join assets on assets.id = tagging.asset_id
      where ${inList(db, sql.ref<string>('assets.uid'), uids)} and ${assetIsVisible(tagVisibility(caller), visibilityParameters(caller))})`,
  };
}

/**
 * @returns the owner in a path, as a filter of the list
 * @throws DomainError `not-found`
 */
export async function requireTagOwner(
  { db, caller }: ListContext,
  orgUid: string,
): Promise<{ owner: number[] }> {
  const owner = await findTagOwner(db, { actor: caller, accepted: TAG_SCOPES }, orgUid);
  if (owner === undefined) throw notFound('organization');
  return { owner: [owner.id] };
}

/**
 * Reads one tag (operation 71).
 * @throws DomainError `not-found` for the organization and for the tag
 */
export async function readAssetTag(
  listContext: ListContext,
  orgUid: string,
  tagUid: string,
  includeEntities: boolean,
): Promise<AssetTagView> {
  const { db, caller } = listContext;
  const [owner = 0] = (await requireTagOwner(listContext, orgUid)).owner;
  if (!ORGANIZATION_UID.test(tagUid)) throw notFound('tag');
  const row = await db
    .selectFrom('asset_tags')
    .select(['id', 'uid', 'name', 'version'])
    .where('organization_id', '=', owner)
    .where('uid', '=', tagUid)
    .executeTakeFirst();
  if (row === undefined) throw notFound('tag');
  const [tag] = await readTags(db, caller, [{ ...row, org_uid: orgUid }], includeEntities);
  return tag as AssetTagView;
}

async function readTags(
  db: ReadConnection,
  caller: Caller,
  rows: readonly AssetTagRow[],
  includeEntities: boolean,
): Promise<AssetTagView[]> {
  const taggings = visibleTaggings(tagVisibility(caller), visibilityParameters(caller));
  const ids = rows.map(({ id }) => id);
  const { rows: counted } = await sql<{ tag_id: number; count: number }>`
    select tagging.tag_id, count(*) as count from ${taggings} and ${inList(db, sql.ref<number>('tagging.tag_id'), ids)}
    group by tagging.tag_id`.execute(db);
  const counts = new Map(counted.map(({ tag_id, count }) => [tag_id, count]));
  return Promise.all(
    rows.map(async ({ id, uid, name, org_uid: orgUid, version }) => {
      const entityCount = counts.get(id) ?? 0;
      const tag = { uid, name, orgUid, version, entityCount };
      if (!includeEntities) return tag;
      return { ...tag, entities: entityCount === 0 ? [] : await readEntities(db, caller, id) };
    }),
  );
}

async function readEntities(db: ReadConnection, caller: Caller, tag: number): Promise<string[]> {
  const entities = await db
    .selectFrom('asset_taggings as tagging')
    .innerJoin('assets', 'assets.id', 'tagging.asset_id')
    .select('assets.uid')
    .where('tagging.tag_id', '=', tag)
    .where(assetIsVisible(tagVisibility(caller), visibilityParameters(caller)))
    .orderBy('tagging.asset_id')
    .limit(MAX_ENTITIES)
    .execute();
  return entities.map(({ uid }) => uid);
}

/** The taggings of visible assets: the SQL after `from`, up to and including a condition. */
function visibleTaggings(visibility: Visibility, p: VisibilityParameters): Expression<unknown> {
  const [rule] = visibility.rules;
  // A tagging has the organization of its asset, so assets are joined only for their other columns.
  if (visibility.rules.length === 1 && rule?.writableBy === null && rule.level !== 'listing') {
    const condition =
      rule.level === 'global'
        ? sql`1 = 1`
        : inAccessibleOrganization(visibility, sql.ref('tagging.organization_id'), p);
    return sql`asset_taggings as tagging where ${condition}`;
  }
  return sql`asset_taggings as tagging join assets on assets.id = tagging.asset_id where ${assetIsVisible(visibility, p)}`;
}
