import { Type } from 'typebox';
import { TAG_WRITE_SCOPES, TAG_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import { tagAssets } from '../../domain/assets/tag-assets.ts';
import { type AssetTag, createAssetTags, planAssetTags } from '../../domain/assets/create-asset-tags.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { AREAS } from '../../http/areas.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_TEXT, nameSchema } from '../../http/schemas.ts';
import { withHeaders } from '../../http/operation-result.ts';

export const ASSET_TAGS_PATH = '/v1.0/organizations/:orgUid/tags';

/** The specification does not anchor the end of this pattern: a longer uid is valid and matches no row. */
export const AssetTagsParamsSchema = Type.Object({
  orgUid: Type.String({
    pattern: '^[0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'The uid of an organization or of a group of organizations.',
    examples: ['acme'],
  }),
});

const EntityReferenceSchema = Type.Object(
  {
    uid: Type.String({
      maxLength: MAX_TEXT,
      description: 'The uid of an asset.',
      examples: ['5f0c1e2d3b4a59687786a5b4'],
    }),
  },
  { title: 'Entity reference' },
);

/** @param maxItems maximum size of a batch */
const createAssetTagsSchema = (maxItems: number) =>
  Type.Object(
    {
      tags: Type.Array(
        Type.Object(
          {
            name: nameSchema('needs-owner'),
            entities: Type.Optional(Type.Array(EntityReferenceSchema, { maxItems })),
          },
          { title: 'New asset tag' },
        ),
        { minItems: 1, maxItems },
      ),
    },
    { title: 'New asset tags' },
  );

/** @param maxItems maximum size of a batch */
const changeTaggingsSchema = (maxItems: number) =>
  Type.Object(
    {
      uids: Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['0a1b2c3d4e5f'] }), {
        minItems: 1,
        maxItems,
        description: 'The uids of the tags to change.',
      }),
      addEntities: Type.Optional(
        Type.Array(EntityReferenceSchema, { maxItems, description: 'The assets to attach to the tags.' }),
      ),
      delEntityUids: Type.Optional(
        Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['6a1d2f3e4c5b6a79788695a4'] }), {
          maxItems,
          description: 'The uids of the assets to detach from the tags.',
        }),
      ),
    },
    { title: 'Tagging change' },
  );

export const TaggedEntitySchema = Type.Object(
  {
    uid: Type.String({ maxLength: MAX_TEXT, examples: ['5f0c1e2d3b4a59687786a5b4'] }),
    entityType: Type.Literal('asset'),
  },
  { title: 'Tagged entity' },
);

export const AssetTagSchema = Type.Object(
  {
    uid: Type.String({ maxLength: MAX_TEXT, examples: ['0a1b2c3d4e5f'] }),
    name: Type.String({ maxLength: MAX_TEXT, examples: ['needs-owner'] }),
    orgUid: Type.String({ maxLength: MAX_TEXT, examples: ['acme'] }),
    entities: Type.Array(TaggedEntitySchema, { maxItems: 100_000 }),
  },
  { title: 'Asset tag' },
);

const AssetTagsSchema = Type.Object(
  { tags: Type.Array(AssetTagSchema, { maxItems: 100_000 }) },
  { title: 'Asset tags' },
);

const countHeader = (description: string) => ({ description, type: 'integer' });
const PAGINATION_HEADERS = {
  'Pagination-Limit': countHeader('The maximum number of tags that one request can create.'),
  'Pagination-Current-Page': countHeader('Always 1.'),
  'Pagination-Total-Pages': countHeader('Always 1.'),
  'Pagination-Total-Count': countHeader('The number of tags created.'),
  Link: { description: 'Links to the first and last pages (RFC 8288).', type: 'string', maxLength: MAX_TEXT },
};

/** Two short lists can name a million pairs, which would all be one transaction. */
const pairLimit = (max: number, source: string) => ({
  max,
  source,
  unit: 'pairs of a tag and an entity',
});

const acceptedScopes = ({ config }: Context) => (config.strictScopes ? TAG_WRITE_SCOPES : TAG_SCOPES);

const createAssetTagsOperation = (context: Context) => {
  const { addresses, clock, config, db } = context;
  const accepted = acceptedScopes(context);
  return operation({
    id: 'createAssetTags',
    number: 8,
    summary: 'Create asset tags',
    description: `Creates tags in an organization and attaches them to assets, at most ${config.maxTagPairs} pairs of a tag and an asset per request. If one pair is invalid, nothing is created.`,
    method: 'POST',
    path: ASSET_TAGS_PATH,
    access: { scopes: accepted, schemes: 'bearer' },
    params: AssetTagsParamsSchema,
    body: createAssetTagsSchema(config.maxTagBatch),
    totalLimit: {
      ...pairLimit(config.maxTagPairs, 'tags'),
      count: ({ tags = [] }) => tags.reduce((sum, { entities = [] }) => sum + entities.length, 0),
    },
    bodyLimit: config.bodyLimit,
    responses: {
      201: { description: 'The tags were created.', headers: PAGINATION_HEADERS, schema: AssetTagsSchema },
    },
    inputs: { 'tags.*.assets.*': 'tags.*.entities.*.uid' },
    idempotency: true,
    async handler({ abortState, caller, writeOnce, params: { orgUid }, body }) {
      const by = () => ({ actor: caller, now: clock(), accepted });
      const newTags = body.tags.map(({ name, entities }) => ({
        name,
        assets: entities?.map(({ uid }) => uid) ?? [],
      }));
      const self = `${addresses.clientBaseUrl}${AREAS.tagging.prefix}/v1.0/organizations/${orgUid}/tags`;
      // Errors are reported by the transaction, after a replay has had the chance to return its stored response.
      const plan = await planAssetTags(db.abortableRead(abortState), by(), orgUid, newTags).catch(
        (error: unknown) => {
          if (error instanceof DomainError) return undefined;
          throw error;
        },
      );
      return writeOnce(async (tx) => {
        const tags = await createAssetTags(tx, by(), orgUid, newTags, plan);
        return withHeaders(
          { tags: tags.map(toAssetTagBody) },
          {
            'Pagination-Limit': String(config.maxTagBatch),
            'Pagination-Current-Page': '1',
            'Pagination-Total-Pages': '1',
            'Pagination-Total-Count': String(tags.length),
            Link: `<${self}>; rel="first", <${self}>; rel="last"`,
          },
        );
      });
    },
  });
};

const changeAssetTaggingsOperation = (context: Context) => {
  const { clock, config } = context;
  const accepted = acceptedScopes(context);
  return operation({
    id: 'changeAssetTaggings',
    number: 9,
    summary: 'Attach or detach entities to or from tags',
    description: `Attaches assets to each of the tags and detaches others, at most ${config.maxTagPairs} pairs of a tag and an asset per request. If one pair is invalid, nothing is changed.`,
    method: 'PATCH',
    path: ASSET_TAGS_PATH,
    access: { scopes: accepted, schemes: 'bearer' },
    params: AssetTagsParamsSchema,
    body: changeTaggingsSchema(config.maxTagBatch),
    totalLimit: {
      ...pairLimit(config.maxTagPairs, 'uids'),
      count: ({ uids = [], addEntities = [], delEntityUids = [] }) =>
        uids.length * (addEntities.length + delEntityUids.length),
    },
    bodyLimit: config.bodyLimit,
    responses: { 204: { description: 'The tags were changed.' } },
    inputs: { tags: 'uids', 'attach.*': 'addEntities.*.uid', detach: 'delEntityUids' },
    handler({
      caller,
      params: { orgUid },
      body: { uids: tags, addEntities = [], delEntityUids: detach = [] },
      write,
    }) {
      const change = { tags, attach: addEntities.map(({ uid }) => uid), detach };
      return write((tx) => tagAssets(tx, { actor: caller, now: clock(), accepted }, orgUid, change));
    },
  });
};

function toAssetTagBody({ uid, name, orgUid, assets }: AssetTag) {
  return {
    uid,
    name,
    orgUid,
    entities: assets.map((asset) => ({ uid: asset, entityType: 'asset' as const })),
  };
}

export default operationsOf('tagging', [createAssetTagsOperation, changeAssetTaggingsOperation]);
