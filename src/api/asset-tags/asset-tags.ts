import { Type } from 'typebox';
import { STRICT_TAG_SCOPES, TAG_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { deleteAssetTags, renameAssetTag } from '../../domain/assets/update-asset-tags.ts';
import {
  assetTagList,
  MAX_ENTITIES,
  readAssetTag,
  type AssetTagView,
  requireTagOwner,
} from '../../domain/assets/asset-tag-list.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT, nameSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/etags.ts';
import { AssetTagSchema, AssetTagsParamsSchema, ASSET_TAGS_PATH, TaggedEntitySchema } from './tag-assets.ts';

const READ_ACCESS = { scopes: TAG_SCOPES, schemes: 'bearer' } as const;
const WRITE_ACCESS = { scopes: STRICT_TAG_SCOPES, schemes: 'bearer' } as const;

/** @param example of a tag that the examples of no other operation delete */
const assetTagParamsSchema = (example: string) =>
  Type.Object({
    ...AssetTagsParamsSchema.properties,
    tagUid: Type.String({ maxLength: MAX_TEXT, description: 'The uid of a tag.', examples: [example] }),
  });
const AssetTagParamsSchema = assetTagParamsSchema('0a1b2c3d4e5f');

const CountedAssetTagSchema = Type.Object(
  {
    uid: AssetTagSchema.properties.uid,
    name: AssetTagSchema.properties.name,
    orgUid: AssetTagSchema.properties.orgUid,
    entityCount: Type.Integer({ minimum: 0, description: 'How many assets that you reach have it.' }),
    entities: Type.Optional(
      Type.Array(TaggedEntitySchema, { maxItems: MAX_ENTITIES, description: 'The first of these assets.' }),
    ),
  },
  { title: 'Counted asset tag' },
);

const INCLUDE_DESCRIPTION = `Whether \`entities\` is there, with at most ${MAX_ENTITIES} of them.`;

const listAssetTagsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssetTags',
    number: 70,
    summary: 'List asset tags',
    description:
      'The tags of an organization, or of a group of organizations. Counts and entities are of the assets that you reach.',
    path: ASSET_TAGS_PATH,
    access: READ_ACCESS,
    params: AssetTagsParamsSchema,
    style: 'flat',
    list: assetTagList,
    filters: {
      search: 'A part of the name, without regard to case.',
      entityUid: 'Tags that one of these assets has.',
      includeEntities: INCLUDE_DESCRIPTION,
    },
    sorts: ['name', 'entityCount'],
    defaultSort: { sort: 'name' },
    scope: (reading, { orgUid }) => requireTagOwner(reading, orgUid),
    schema: CountedAssetTagSchema,
    toRow: toCountedAssetTagBody,
  });

const getAssetTagOperation = ({ clock, db }: Context) =>
  operation({
    id: 'getAssetTag',
    number: 71,
    summary: 'Get an asset tag',
    description: 'The count and the entities are of the assets that you reach.',
    method: 'GET',
    path: `${ASSET_TAGS_PATH}/:tagUid`,
    access: READ_ACCESS,
    params: AssetTagParamsSchema,
    query: Type.Object({
      includeEntities: Type.Optional(Type.Boolean({ description: INCLUDE_DESCRIPTION })),
    }),
    responses: { 200: { description: 'The tag.', schema: CountedAssetTagSchema } },
    versioned: true,
    async handler({ caller, params: { orgUid, tagUid }, query: { includeEntities = false } }) {
      const reading = { db: db.read, caller, now: clock() };
      const tag = await readAssetTag(reading, orgUid, tagUid, includeEntities);
      return versionedResult(tag.version, toCountedAssetTagBody(tag));
    },
  });

const RenameAssetTagSchema = Type.Object({ name: nameSchema('owner wanted') }, { title: 'Asset tag rename' });

const renameAssetTagOperation = ({ clock, db }: Context) =>
  operation({
    id: 'renameAssetTag',
    number: 72,
    summary: 'Rename an asset tag',
    description:
      'With the scopes of listings alone, a tag that has assets, all of them in those listings; a tag of a group when you reach every organization of it.',
    method: 'PUT',
    path: `${ASSET_TAGS_PATH}/:tagUid`,
    access: WRITE_ACCESS,
    params: AssetTagParamsSchema,
    body: RenameAssetTagSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 204: { description: 'The tag has the name.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { orgUid, tagUid }, body: { name } }) =>
      db.write((tx) =>
        renameAssetTag(tx, { actor: caller, now: clock(), accepted: STRICT_TAG_SCOPES }, orgUid, {
          uid: tagUid,
          name,
          expected: ifMatch,
        }),
      ),
  });

const MAX_TAGS_PER_REQUEST = 1_000;
const DeleteAssetTagsSchema = Type.Object(
  {
    uids: Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['1b2c3d4e5f60'] }), {
      minItems: 1,
      maxItems: MAX_TAGS_PER_REQUEST,
      description: 'The tags to delete.',
    }),
  },
  { title: 'Asset tag deletion' },
);

const deleteAssetTagsOperation = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAssetTags',
    number: 73,
    summary: 'Delete asset tags',
    description:
      'Deletes tags, and takes them off every asset. All or nothing; which tags it may be is told under operation 72.',
    method: 'DELETE',
    path: ASSET_TAGS_PATH,
    access: WRITE_ACCESS,
    params: AssetTagsParamsSchema,
    body: DeleteAssetTagsSchema,
    inputs: { tags: 'uids' },
    responses: { 204: { description: 'The tags are deleted.' } },
    handler: ({ caller, params: { orgUid }, body: { uids } }) =>
      db.write((tx) =>
        deleteAssetTags(tx, { actor: caller, now: clock(), accepted: STRICT_TAG_SCOPES }, orgUid, uids),
      ),
  });

function toCountedAssetTagBody({ uid, name, orgUid, entityCount, entities }: AssetTagView) {
  return {
    uid,
    name,
    orgUid,
    entityCount,
    ...(entities === undefined
      ? {}
      : { entities: entities.map((asset) => ({ uid: asset, entityType: 'asset' as const })) }),
  };
}

export const ASSET_TAG_OPERATIONS = [
  listAssetTagsOperation,
  getAssetTagOperation,
  renameAssetTagOperation,
  deleteAssetTagsOperation,
];
