import { Type } from 'typebox';
import { ASSET_READ_SCOPES, ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import {
  updateListingAssets,
  MAX_SCOPE_RULE_LENGTH,
  MAX_SCOPE_RULES,
  planListingUpdate,
} from '../../domain/assessments/update-listing.ts';
import { ASSET_TYPES, CRITICALITIES } from '../../domain/assets/asset-enums.ts';
import { requireListing, listingAssetList } from '../../domain/assets/listing-asset-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { BATCH } from '../../http/validation/array-limits.ts';
import { DateTimeSchema, MAX_TEXT, textSchema } from '../../http/schemas.ts';
import { AssetScopeRulesSchema, EXAMPLE_ASSET_UID } from './asset-schema.ts';

/** The specification does not anchor the end of this pattern: a longer uid is valid and matches no row. */
const ListingParamsSchema = Type.Object({
  listingUid: Type.String({
    pattern: '^[-_0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'The uid of the listing, which is an assessment.',
    examples: ['acme-web-2026'],
  }),
});

const assetUidSchema = (example: string) => Type.String({ maxLength: MAX_TEXT, examples: [example] });

const ScopeRulesSchema = Type.Array(
  Type.Object(
    {
      rule: Type.String({
        minLength: 1,
        maxLength: MAX_SCOPE_RULE_LENGTH,
        examples: ['Only between 22:00 and 06:00 UTC'],
      }),
    },
    { title: 'Scope rule' },
  ),
  {
    maxItems: MAX_SCOPE_RULES,
    // A limit of one asset, and not of the request.
    [BATCH]: false,
    description: 'Replaces the scope rules of the asset in this listing. If absent, they are unchanged.',
  },
);

/** @param maxItems maximum size of a batch */
const changeListingSchema = (maxItems: number) =>
  Type.Object(
    {
      add: Type.Optional(
        Type.Array(
          Type.Object(
            {
              assetUid: assetUidSchema('5f0c1e2d3b4a59687786a5b4'),
              scopeRules: Type.Optional(ScopeRulesSchema),
            },
            { title: 'Listing asset' },
          ),
          { maxItems, description: 'The assets to add to the listing.' },
        ),
      ),
      remove: Type.Optional(
        Type.Array(assetUidSchema('6a1d2f3e4c5b6a79788695a4'), {
          maxItems,
          description:
            'The uids of the assets to remove from the listing. The assets themselves are not deleted.',
        }),
      ),
    },
    { title: 'Listing change' },
  );

const changeListingAssetsOperation = ({ clock, config }: Context) =>
  operation({
    id: 'changeListingAssets',
    number: 11,
    summary: 'Add or remove assets of a listing',
    description:
      'Adds assets to a listing with their scope rules, and removes others. Unknown and inaccessible assets are ignored.',
    method: 'PATCH',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    params: ListingParamsSchema,
    body: changeListingSchema(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    responses: { 204: { description: 'The listing was updated.' } },
    handler({ caller, params: { listingUid }, body, write }) {
      const plan = planListingUpdate(body);
      return write((tx) => updateListingAssets(tx, { actor: caller, now: clock() }, listingUid, plan));
    },
  });

const ListedAssetSchema = Type.Object(
  {
    assetUid: Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET_UID] }),
    location: textSchema('192.0.2.10'),
    assetType: Type.String({ enum: [...ASSET_TYPES], maxLength: 16, examples: ['host'] }),
    criticality: Type.String({ enum: [...CRITICALITIES], maxLength: 16, examples: ['high'] }),
    scopeRules: AssetScopeRulesSchema,
    createdAt: DateTimeSchema,
  },
  { title: 'Asset of a listing' },
);

const listListingAssetsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listListingAssets',
    number: 79,
    summary: 'List assets of a listing',
    description:
      'Lists the assets of a listing that are visible to the token, by location, with their scope rules in the listing.',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    params: ListingParamsSchema,
    style: 'flat',
    list: listingAssetList,
    filters: {
      assetType: 'Return only assets of these types.',
      search: 'Return only assets whose name or location contains this text, ignoring case.',
    },
    defaultSort: { sort: 'location' },
    scope: async (listContext, { listingUid }) => ({
      listing: [await requireListing(listContext, listingUid)],
    }),
    schema: ListedAssetSchema,
    toRow: (asset) => ({
      assetUid: asset.uid,
      location: asset.location,
      assetType: asset.type,
      criticality: asset.criticality,
      scopeRules: asset.scopeRules.map((rule) => ({ rule })),
      createdAt: formatTimestamp(asset.createdAt),
    }),
  });

export default operationsOf('asset', [changeListingAssetsOperation, listListingAssetsOperation]);
