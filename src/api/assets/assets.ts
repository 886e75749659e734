import { Type } from 'typebox';
import { ASSET_DELETE_SCOPES, ASSET_READ_SCOPES, ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { updateAsset, deleteAsset } from '../../domain/assets/update-asset.ts';
import { createAssets } from '../../domain/assets/create-assets.ts';
import { assetList } from '../../domain/assets/asset-list.ts';
import { MAX_LOCATION_LENGTH } from '../../domain/assets/asset-locations.ts';
import { readAsset } from '../../domain/assets/read-asset.ts';
import { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from '../../domain/assets/asset-enums.ts';
import { updateCriticality } from '../../domain/assets/update-criticality.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT, nullable } from '../../http/schemas.ts';
import { versionedResult } from '../../http/etags.ts';
import { AssetSchema, toAssetBody, EXAMPLE_ASSET_UID } from './asset-schema.ts';

/** The specification leaves the ends of its patterns open: a longer uid is well-formed, and no row has it. */
const AssetUidSchema = Type.String({
  pattern: '^[0-9a-f]{24}',
  maxLength: MAX_TEXT,
  examples: ['5f0c1e2d3b4a59687786a5b4'],
});

/** @param maxItems the largest batch */
const criticalitySchema = (maxItems: number) =>
  Type.Object(
    {
      organizationUid: Type.String({
        pattern: '^[-_0-9a-z]{1,50}',
        maxLength: MAX_TEXT,
        description: 'The organization that the assets belong to.',
        examples: ['acme'],
      }),
      criticality: Type.Enum([...CRITICALITIES], { type: 'string', examples: ['high'] }),
      assetUids: Type.Array(AssetUidSchema, { minItems: 1, maxItems }),
    },
    { title: 'Criticality update' },
  );

const UpdatedCountSchema = Type.Object(
  {
    updatedCount: Type.Integer({
      minimum: 0,
      description: 'How many assets have another criticality now than before.',
      examples: [3],
    }),
  },
  { title: 'Updated count' },
);

const updateAssetCriticalityOperation = ({ clock, config, db }: Context) =>
  operation({
    id: 'updateAssetCriticality',
    number: 10,
    summary: 'Bulk update asset criticality',
    description:
      'Sets the criticality of assets of one organization. Assets that are unknown or out of reach are ignored.',
    method: 'POST',
    // The router reads `::` as a plain colon. It keeps one that a client has encoded as it is, outside of parameters.
    path: '/v2/bulk/assets/criticality::update',
    alias: '/v2/bulk/assets/:encoded(^criticality:update$)',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    body: criticalitySchema(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    responses: { 200: { description: 'The assets have the criticality.', schema: UpdatedCountSchema } },
    handler: async ({ caller, body }) => ({
      updatedCount: await db.write((tx) => updateCriticality(tx, { actor: caller, now: clock() }, body)),
    }),
  });

const collection = '/v2/assets';
const path = `${collection}/:assetUid`;

/** What does not look like a uid is one that no asset has. */
const assetParamsSchema = (example: string) =>
  Type.Object({
    assetUid: Type.String({ maxLength: MAX_TEXT, description: 'The asset.', examples: [example] }),
  });
const AssetParamsSchema = assetParamsSchema(EXAMPLE_ASSET_UID);

/** How many a request creates at most. */
const MAX_ASSETS_PER_REQUEST = 1_000;
const MAX_DESCRIPTION_LENGTH = 65_536;

const assetFields = {
  name: Type.String({
    maxLength: MAX_TEXT,
    description: 'At most 255 characters. Required of what is no host and no web application.',
    examples: ['ams-printer-02.acme.example'],
  }),
  location: Type.String({
    maxLength: MAX_LOCATION_LENGTH,
    description:
      'Of a host an IPv4 or IPv6 address or a host name, of a web application an http or https URL; both required. Of anything else the name, and left out.',
    examples: ['192.0.2.77'],
  }),
  description: Type.String({
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: 'Markdown.',
    examples: ['Second floor.'],
  }),
  criticality: Type.Enum([...CRITICALITIES], { type: 'string', default: 'undefined', examples: ['low'] }),
  writableBy: Type.Enum([...WRITABLE_BY], {
    type: 'string',
    default: 'any',
    description: 'Which users may change it. You have to be one of them.',
    examples: ['any'],
  }),
};

const NewAssetSchema = Type.Object(
  {
    organizationUid: Type.String({
      pattern: '^[-_0-9a-z]{1,50}$',
      maxLength: MAX_TEXT,
      examples: ['acme'],
    }),
    assetType: Type.Enum([...ASSET_TYPES], { type: 'string', examples: ['host'] }),
    location: Type.Optional(assetFields.location),
    name: Type.Optional(assetFields.name),
    description: Type.Optional(assetFields.description),
    criticality: Type.Optional(assetFields.criticality),
    writableBy: Type.Optional(assetFields.writableBy),
    listingUid: Type.Optional(
      Type.String({
        pattern: '^[-_0-9a-z]{1,50}$',
        maxLength: MAX_TEXT,
        description: 'A listing that it is to be in. Required when the token has listing scopes alone.',
        examples: ['acme-web-2026'],
      }),
    ),
  },
  { title: 'New asset' },
);

const createAssetsOperation = ({ clock }: Context) =>
  operation({
    id: 'createAssets',
    number: 74,
    summary: 'Create assets',
    description:
      'Creates an asset, or as many as an array has, all or none. A location is brought into one form, and an organization has each once by type.',
    method: 'POST',
    path: collection,
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    body: Type.Union([
      NewAssetSchema,
      Type.Array(NewAssetSchema, { minItems: 1, maxItems: MAX_ASSETS_PER_REQUEST }),
    ]),
    inputs: {
      organization: 'organizationUid',
      listing: 'listingUid',
      '*.organization': '*.organizationUid',
      '*.listing': '*.listingUid',
    },
    responses: {
      201: {
        description: 'The asset; of an array the assets in its order.',
        schema: Type.Union([AssetSchema, Type.Array(AssetSchema, { maxItems: MAX_ASSETS_PER_REQUEST })]),
      },
    },
    versioned: true,
    idempotency: true,
    handler({ caller, body, change }) {
      const act = { actor: caller, now: clock() };
      const bodies = Array.isArray(body) ? body : [body];
      const wishes = bodies.map(({ organizationUid, assetType, listingUid, ...asset }) => ({
        ...asset,
        organization: organizationUid,
        type: assetType,
        listing: listingUid,
      }));
      const at = Array.isArray(body) ? (index: number) => `${index}.` : () => '';
      return change(async (tx) => {
        const assets = await createAssets(tx, act, wishes, at);
        const [asset] = assets;
        if (Array.isArray(body) || asset === undefined) return assets.map(toAssetBody);
        return versionedResult(asset.version, toAssetBody(asset), { location: `${collection}/${asset.uid}` });
      });
    },
  });

const listAssetsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssets',
    number: 75,
    summary: 'List assets',
    description: 'The assets that your token reaches. As CSV or NDJSON all of them, as a download.',
    path: collection,
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    style: 'flat',
    list: assetList,
    filters: {
      organizationUid: 'Of these organizations.',
      listingUid: 'In one of these listings.',
      assetType: 'Of one of these types.',
      search: 'A part of the name or the location, without regard to case.',
      criticality: 'Of one of these criticalities.',
      tagUid: 'With one of these tags.',
      portNumber: 'Hosts with one of these ports open.',
      ipRange: 'Hosts at one of these addresses or in one of these blocks (CIDR), IPv4 or IPv6.',
      createdSince: 'Created at this moment or later.',
    },
    sorts: ['location', 'createdAt', 'updatedAt', 'lastSeen', 'criticality', 'vulnerabilityCount'],
    defaultSort: { sort: 'location' },
    schema: AssetSchema,
    toRow: toAssetBody,
    fields: { always: 'uid' },
    download: { action: 'asset.export', filename: 'assets' },
  });

const getAssetOperation = ({ clock, db }: Context) =>
  operation({
    id: 'getAsset',
    number: 76,
    summary: 'Get an asset',
    description: 'The asset, with all of its listings that you reach and all of its tags.',
    method: 'GET',
    path,
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    params: AssetParamsSchema,
    responses: { 200: { description: 'The asset.', schema: AssetSchema } },
    versioned: true,
    async handler({ caller, params: { assetUid } }) {
      const asset = await readAsset({ db: db.read, caller, now: clock() }, assetUid);
      return versionedResult(asset.version, toAssetBody(asset));
    },
  });

const UpdateAssetSchema = Type.Object(
  {
    location: Type.Optional(nullable(assetFields.location)),
    name: Type.Optional(nullable(assetFields.name)),
    description: Type.Optional(nullable(assetFields.description)),
    criticality: Type.Optional(nullable(assetFields.criticality)),
    writableBy: Type.Optional(nullable(assetFields.writableBy)),
  },
  { title: 'Asset change', examples: [{ criticality: 'high', description: 'The gateway in Amsterdam.' }] },
);

const updateAssetOperation = ({ clock, db }: Context) =>
  operation({
    id: 'updateAsset',
    number: 77,
    summary: 'Change an asset',
    description:
      'A merge patch (RFC 7396): what is absent stays, and null sets back to what a new asset has.',
    method: 'PATCH',
    path,
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    params: AssetParamsSchema,
    body: UpdateAssetSchema,
    mergePatch: true,
    responses: { 200: { description: 'The asset as it is now.', schema: AssetSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { assetUid }, body }) {
      const act = { actor: caller, now: clock() };
      const asset = await db.write((tx) => updateAsset(tx, act, assetUid, body, ifMatch));
      return versionedResult(asset.version, toAssetBody(asset));
    },
  });

const deleteAssetOperation = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAsset',
    number: 78,
    summary: 'Delete an asset',
    description:
      'Deletes the asset with its ports, scope rules and taggings, and takes it off every vulnerability. A 409 while an active assessment lists it.',
    method: 'DELETE',
    path,
    access: { scopes: ASSET_DELETE_SCOPES, schemes: 'bearer' },
    params: assetParamsSchema('6a1d2f3e4c5b6a7988769500'),
    responses: { 204: { description: 'The asset is gone.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { assetUid } }) =>
      db.write((tx) => deleteAsset(tx, { actor: caller, now: clock() }, assetUid, ifMatch)),
  });

export const ASSET_OPERATIONS = [
  updateAssetCriticalityOperation,
  createAssetsOperation,
  listAssetsOperation,
  getAssetOperation,
  updateAssetOperation,
  deleteAssetOperation,
];
