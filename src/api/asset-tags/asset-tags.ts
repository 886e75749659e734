import { Type } from 'typebox';
import { STRICT_TAG_SCOPES, TAG_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { deleteAssetTags, renameAssetTag } from '../../domain/assets/update-asset-tags.ts';
import {
  assetTagList,
  MAX_ENTITIES,
  readAssetTag,
  type ReadAssetTag,
  tagOwnerOf,
} from '../../domain/assets/asset-tag-list.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT, nameText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { AssetTagBody, OrganizationPath, path, TaggedEntity } from './tag-assets.ts';

const READ = { scopes: TAG_SCOPES, schemes: 'bearer' } as const;
const WRITE = { scopes: STRICT_TAG_SCOPES, schemes: 'bearer' } as const;

/** @param example of a tag that the examples of no other operation delete */
const tagPath = (example: string) =>
  Type.Object({
    ...OrganizationPath.properties,
    tagUid: Type.String({ maxLength: MAX_TEXT, description: 'The uid of a tag.', examples: [example] }),
  });
const TagPath = tagPath('0a1b2c3d4e5f');

const CountedAssetTagBody = Type.Object(
  {
    uid: AssetTagBody.properties.uid,
    name: AssetTagBody.properties.name,
    orgUid: AssetTagBody.properties.orgUid,
    entityCount: Type.Integer({ minimum: 0, description: 'How many assets that you reach have it.' }),
    entities: Type.Optional(
      Type.Array(TaggedEntity, { maxItems: MAX_ENTITIES, description: 'The first of these assets.' }),
    ),
  },
  { title: 'Counted asset tag' },
);

const INCLUDE = `Whether \`entities\` is there, with at most ${MAX_ENTITIES} of them.`;

const declareListAssetTags = (context: Context) =>
  listOperation(context, {
    id: 'listAssetTags',
    number: 70,
    summary: 'List asset tags',
    description:
      'The tags of an organization, or of a group of organizations. Counts and entities are of the assets that you reach.',
    path,
    access: READ,
    params: OrganizationPath,
    style: 'flat',
    list: assetTagList,
    filters: {
      search: 'A part of the name, without regard to case.',
      entityUid: 'Tags that one of these assets has.',
      includeEntities: INCLUDE,
    },
    sorts: ['name', 'entityCount'],
    usualSort: { order: 'name' },
    within: (reading, { orgUid }) => tagOwnerOf(reading, orgUid),
    schema: CountedAssetTagBody,
    row: countedAssetTagBody,
  });

const declareGetAssetTag = ({ clock, db }: Context) =>
  operation({
    id: 'getAssetTag',
    number: 71,
    summary: 'Get an asset tag',
    description: 'The count and the entities are of the assets that you reach.',
    method: 'GET',
    path: `${path}/:tagUid`,
    access: READ,
    params: TagPath,
    query: Type.Object({ includeEntities: Type.Optional(Type.Boolean({ description: INCLUDE })) }),
    answers: { 200: { description: 'The tag.', schema: CountedAssetTagBody } },
    versioned: true,
    async handler({ caller, params: { orgUid, tagUid }, query: { includeEntities = false } }) {
      const reading = { db: db.read, caller, now: clock() };
      const tag = await readAssetTag(reading, orgUid, tagUid, includeEntities);
      return versioned(tag.version, countedAssetTagBody(tag));
    },
  });

const RenameBody = Type.Object({ name: nameText('owner wanted') }, { title: 'Asset tag rename' });

const declareRenameAssetTag = ({ clock, db }: Context) =>
  operation({
    id: 'renameAssetTag',
    number: 72,
    summary: 'Rename an asset tag',
    description:
      'With the scopes of listings alone, a tag that has assets, all of them in those listings; a tag of a group when you reach every organization of it.',
    method: 'PUT',
    path: `${path}/:tagUid`,
    access: WRITE,
    params: TagPath,
    body: RenameBody,
    bodyLimit: SMALL_BODY,
    answers: { 204: { description: 'The tag has the name.' } },
    versioned: true,
    handler: ({ caller, expected, params: { orgUid, tagUid }, body: { name } }) =>
      db.write((tx) =>
        renameAssetTag(tx, { actor: caller, now: clock(), accepted: STRICT_TAG_SCOPES }, orgUid, {
          uid: tagUid,
          name,
          expected,
        }),
      ),
  });

const MAX_DELETED = 1_000;
const DeleteBody = Type.Object(
  {
    uids: Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['1b2c3d4e5f60'] }), {
      minItems: 1,
      maxItems: MAX_DELETED,
      description: 'The tags to delete.',
    }),
  },
  { title: 'Asset tag deletion' },
);

const declareDeleteAssetTags = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAssetTags',
    number: 73,
    summary: 'Delete asset tags',
    description:
      'Deletes tags, and takes them off every asset. All or nothing; which tags it may be is told under operation 72.',
    method: 'DELETE',
    path,
    access: WRITE,
    params: OrganizationPath,
    body: DeleteBody,
    inputs: { tags: 'uids' },
    answers: { 204: { description: 'The tags are deleted.' } },
    handler: ({ caller, params: { orgUid }, body: { uids } }) =>
      db.write((tx) =>
        deleteAssetTags(tx, { actor: caller, now: clock(), accepted: STRICT_TAG_SCOPES }, orgUid, uids),
      ),
  });

function countedAssetTagBody({ uid, name, orgUid, entityCount, entities }: ReadAssetTag) {
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

export const EXISTING_ASSET_TAG_OPERATIONS = [
  declareListAssetTags,
  declareGetAssetTag,
  declareRenameAssetTag,
  declareDeleteAssetTags,
];
