import { Type } from 'typebox';
import { ASSET_READ_SCOPES, ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
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
import { operation } from '../../http/operation.ts';
import { DateTimeSchema, MAX_TEXT, textSchema } from '../../http/schemas.ts';
import { AssetScopeRulesSchema, EXAMPLE_ASSET_UID } from './asset-schema.ts';

/** The specification leaves the end of the pattern open: a longer uid is well-formed, and no row has it. */
const ListingParamsSchema = Type.Object({
  listingUid: Type.String({
    pattern: '^[-_0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'The listing, which is an assessment.',
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
    description: 'Replaces the rules that the asset has here; absent, they stay.',
  },
);

/** @param maxItems the largest batch */
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
          {
            maxItems,
            description: 'Assets to associate with the listing.',
          },
        ),
      ),
      remove: Type.Optional(
        Type.Array(assetUidSchema('6a1d2f3e4c5b6a79788695a4'), {
          maxItems,
          description: 'The uids of assets to take off the listing; the assets themselves stay.',
        }),
      ),
    },
    { title: 'Listing change' },
  );

const changeListingAssetsOperation = ({ clock, config, db }: Context) =>
  operation({
    id: 'changeListingAssets',
    number: 11,
    summary: 'Add or remove assets of a listing',
    description:
      'Associates assets with a listing, with their scope rules, and takes others off it. Assets that are unknown or out of reach are ignored.',
    method: 'PATCH',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    params: ListingParamsSchema,
    body: changeListingSchema(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    responses: { 204: { description: 'The listing has the assets.' } },
    handler({ caller, params: { listingUid }, body }) {
      const plan = planListingUpdate(body);
      return db.write((tx) => updateListingAssets(tx, { actor: caller, now: clock() }, listingUid, plan));
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
      'The assets of a listing that your token reaches, by location, with their scope rules in it.',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    params: ListingParamsSchema,
    style: 'flat',
    list: listingAssetList,
    filters: {
      assetType: 'Of one of these types.',
      search: 'A part of the name or the location, without regard to case.',
    },
    defaultSort: { sort: 'location' },
    scope: async (reading, { listingUid }) => ({ listing: [await requireListing(reading, listingUid)] }),
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

export const LISTING_ASSET_OPERATIONS = [changeListingAssetsOperation, listListingAssetsOperation];
