import { Type } from 'typebox';
import { TAG_WRITE_SCOPES, TAG_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
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
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_TEXT, nameSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { AssetTagSchema, AssetTagsParamsSchema, ASSET_TAGS_PATH, TaggedEntitySchema } from './tag-assets.ts';

const READ_ACCESS = { scopes: TAG_SCOPES, schemes: 'bearer' } as const;
const WRITE_ACCESS = { scopes: TAG_WRITE_SCOPES, schemes: 'bearer' } as const;

/** @param example a tag that no other example deletes */
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
    entityCount: Type.Integer({
      minimum: 0,
      description: 'The number of assets visible to the caller that have the tag.',
    }),
    entities: Type.Optional(
      Type.Array(TaggedEntitySchema, { maxItems: MAX_ENTITIES, description: 'The first of these assets.' }),
    ),
  },
  { title: 'Counted asset tag' },
);

const INCLUDE_DESCRIPTION = `Include \`entities\`, at most ${MAX_ENTITIES} per tag.`;

const listAssetTagsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssetTags',
    number: 70,
    summary: 'List asset tags',
    description:
      'Lists the tags of an organization or of a group of organizations. Counts and entities cover the assets visible to the caller.',
    path: ASSET_TAGS_PATH,
    access: READ_ACCESS,
    params: AssetTagsParamsSchema,
    style: 'flat',
    list: assetTagList,
    filters: {
      search: 'Return only tags whose name contains this text, ignoring case.',
      entityUid: 'Return only tags of these assets.',
      includeEntities: INCLUDE_DESCRIPTION,
    },
    sorts: ['name', 'entityCount'],
    defaultSort: { sort: 'name' },
    scope: (listContext, { orgUid }) => requireTagOwner(listContext, orgUid),
    schema: CountedAssetTagSchema,
    toRow: toCountedAssetTagBody,
  });

const getAssetTagOperation = ({ clock, db }: Context) =>
  operation({
    id: 'getAssetTag',
    number: 71,
    summary: 'Get an asset tag',
    description: 'Returns the tag. Its count and entities cover the assets visible to the caller.',
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
      const listContext = { db: db.read, caller, now: clock() };
      const tag = await readAssetTag(listContext, orgUid, tagUid, includeEntities);
      return versionedResult(tag.version, toCountedAssetTagBody(tag));
    },
  });

const RenameAssetTagSchema = Type.Object({ name: nameSchema('owner wanted') }, { title: 'Asset tag rename' });

const renameAssetTagOperation = ({ clock }: Context) =>
  operation({
    id: 'renameAssetTag',
    number: 72,
    summary: 'Rename an asset tag',
    description:
      'A token with only listing scopes can rename a tag that is attached to assets if all of them are in its listings. A tag of a group of organizations requires access to every organization of the group.',
    method: 'PUT',
    path: `${ASSET_TAGS_PATH}/:tagUid`,
    access: WRITE_ACCESS,
    params: AssetTagParamsSchema,
    body: RenameAssetTagSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 204: { description: 'The tag was renamed.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { orgUid, tagUid }, body: { name }, write }) =>
      write((tx) =>
        renameAssetTag(tx, { actor: caller, now: clock(), accepted: TAG_WRITE_SCOPES }, orgUid, {
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
      description: 'The uids of the tags to delete.',
    }),
  },
  { title: 'Asset tag deletion' },
);

const deleteAssetTagsOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAssetTags',
    number: 73,
    summary: 'Delete asset tags',
    description:
      'Deletes the tags and removes them from every asset; if one cannot be deleted, none is. The permissions are those of operation 72.',
    method: 'DELETE',
    path: ASSET_TAGS_PATH,
    access: WRITE_ACCESS,
    params: AssetTagsParamsSchema,
    body: DeleteAssetTagsSchema,
    inputs: { tags: 'uids' },
    responses: { 204: { description: 'The tags were deleted.' } },
    handler: ({ caller, params: { orgUid }, body: { uids }, write }) =>
      write((tx) =>
        deleteAssetTags(tx, { actor: caller, now: clock(), accepted: TAG_WRITE_SCOPES }, orgUid, uids),
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

export default operationsOf('tagging', [
  listAssetTagsOperation,
  getAssetTagOperation,
  renameAssetTagOperation,
  deleteAssetTagsOperation,
]);
