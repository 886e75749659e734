import { Type } from 'typebox';
import { ASSET_DELETE_SCOPES, ASSET_READ_SCOPES, ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import { updateAsset, deleteAsset, validateAssetPatch } from '../../domain/assets/update-asset.ts';
import { createAssets, validateNewAssets } from '../../domain/assets/create-assets.ts';
import { DomainError, unwrapOutcome } from '../../domain/shared/errors.ts';
import { assetList } from '../../domain/assets/asset-list.ts';
import { readAsset } from '../../domain/assets/read-asset.ts';
import { CRITICALITIES } from '../../domain/assets/asset-enums.ts';
import { updateCriticality } from '../../domain/assets/update-criticality.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import {
  MAX_ASSETS_PER_REQUEST,
  NewAssetSchema,
  UpdateAssetSchema,
  propertyPrefixOf,
  toAssetInputs,
} from './asset-input.ts';
import { AssetSchema, toAssetBody, EXAMPLE_ASSET_UID } from './asset-schema.ts';

/** The specification does not anchor the end of this pattern: a longer uid is valid and matches no row. */
const AssetUidSchema = Type.String({
  pattern: '^[0-9a-f]{24}',
  maxLength: MAX_TEXT,
  examples: ['5f0c1e2d3b4a59687786a5b4'],
});

/** @param maxItems maximum size of a batch */
const criticalitySchema = (maxItems: number) =>
  Type.Object(
    {
      organizationUid: Type.String({
        pattern: '^[-_0-9a-z]{1,50}',
        maxLength: MAX_TEXT,
        description: 'The organization that owns the assets.',
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
      description: 'The number of assets whose criticality changed.',
      examples: [3],
    }),
  },
  { title: 'Updated count' },
);

const updateAssetCriticalityOperation = ({ clock, config }: Context) =>
  operation({
    id: 'updateAssetCriticality',
    number: 10,
    summary: 'Bulk update asset criticality',
    description:
      'Sets the criticality of assets in one organization. Unknown and inaccessible assets are ignored.',
    method: 'POST',
    // The router reads `::` as a literal colon.
    path: '/v2/bulk/assets/criticality::update',
    alias: '/v2/bulk/assets/:encoded(^criticality:update$)',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    body: criticalitySchema(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    responses: { 200: { description: 'The criticality was set.', schema: UpdatedCountSchema } },
    handler: async ({ caller, body, write }) => ({
      updatedCount: await write((tx) => updateCriticality(tx, { actor: caller, now: clock() }, body)),
    }),
  });

const collection = '/v2/assets';
const path = `${collection}/:assetUid`;

/** A value that is not a uid matches no asset, so the response is a 404. */
const assetParamsSchema = (example: string) =>
  Type.Object({
    assetUid: Type.String({ maxLength: MAX_TEXT, description: 'The uid of an asset.', examples: [example] }),
  });
const AssetParamsSchema = assetParamsSchema(EXAMPLE_ASSET_UID);

const createAssetsOperation = ({ clock }: Context) =>
  operation({
    id: 'createAssets',
    number: 74,
    summary: 'Create assets',
    description:
      'Creates one asset, or every asset of an array; if one is invalid, none is created. Locations are normalised, and each location is unique by type within an organization. Returns 409 for a location of an asset that the caller cannot see as well; after too many of these, new locations are a 429 for an hour.',
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
        description: 'The created asset, or the created assets in the order of the request.',
        schema: Type.Union([AssetSchema, Type.Array(AssetSchema, { maxItems: MAX_ASSETS_PER_REQUEST })]),
      },
    },
    validate: (body) => validateNewAssets(toAssetInputs(body), propertyPrefixOf(body)),
    versioned: true,
    idempotency: true,
    handler({ caller, body, writeOnce }) {
      const by = { actor: caller, now: clock() };
      return writeOnce(async (tx) => {
        const assets = await createAssets(tx, by, toAssetInputs(body), propertyPrefixOf(body));
        if (assets instanceof DomainError) return assets;
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
    description:
      'Lists the assets visible to the token. As CSV or NDJSON, the response is a download of all of them.',
    path: collection,
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    style: 'flat',
    list: assetList,
    filters: {
      organizationUid: 'Return only assets of these organizations.',
      listingUid: 'Return only assets in one of these listings.',
      outsideListingUid:
        'Return only assets that imports or vulnerabilities of one of these assessments have, and its listing lacks.',
      assetType: 'Return only assets of these types.',
      search: 'Return only assets whose name or location contains this text, ignoring case.',
      criticality: 'Return only assets with one of these criticalities.',
      tagUid: 'Return only assets with one of these tags.',
      portNumber: 'Return only hosts with one of these ports open.',
      ipRange: 'Return only hosts at one of these IPv4 or IPv6 addresses, or in one of these CIDR blocks.',
      createdSince: 'Return only assets created at or after this time.',
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
    description: 'Returns the asset with all of its tags and all of its listings visible to the caller.',
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

const updateAssetOperation = ({ clock }: Context) =>
  operation({
    id: 'updateAsset',
    number: 77,
    summary: 'Update an asset',
    description:
      'Applies a merge patch (RFC 7396): an absent property is unchanged, and `null` restores the default of a new asset. A new `location` is limited as in operation 74.',
    method: 'PATCH',
    path,
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    params: AssetParamsSchema,
    body: UpdateAssetSchema,
    mergePatch: true,
    validate: validateAssetPatch,
    responses: { 200: { description: 'The updated asset.', schema: AssetSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { assetUid }, body, write }) {
      const by = { actor: caller, now: clock() };
      const asset = unwrapOutcome(await write((tx) => updateAsset(tx, by, assetUid, body, ifMatch)));
      return versionedResult(asset.version, toAssetBody(asset));
    },
  });

const deleteAssetOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAsset',
    number: 78,
    summary: 'Delete an asset',
    description:
      'Deletes the asset with its ports, scope rules and tags, and removes it from every vulnerability. Returns 409 while an active assessment lists the asset.',
    method: 'DELETE',
    path,
    access: { scopes: ASSET_DELETE_SCOPES, schemes: 'bearer' },
    params: assetParamsSchema('6a1d2f3e4c5b6a7988769500'),
    responses: { 204: { description: 'The asset was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { assetUid }, write }) =>
      write((tx) => deleteAsset(tx, { actor: caller, now: clock() }, assetUid, ifMatch)),
  });

export default operationsOf('asset', [
  updateAssetCriticalityOperation,
  createAssetsOperation,
  listAssetsOperation,
  getAssetOperation,
  updateAssetOperation,
  deleteAssetOperation,
]);
