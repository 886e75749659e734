import { Type } from 'typebox';
import { ASSET_READ_SCOPES, ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import {
  changeListingAssets,
  MAX_SCOPE_RULE_LENGTH,
  MAX_SCOPE_RULES,
  planListingChange,
} from '../../domain/assessments/update-listing.ts';
import { ASSET_TYPES, CRITICALITIES } from '../../domain/assets/asset-enums.ts';
import { findListing, listingAssetList } from '../../domain/assets/listing-asset-list.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_TEXT, storedText } from '../../http/schemas.ts';
import { AssetScopeRules, EXAMPLE_ASSET } from './asset-schema.ts';

/** The specification leaves the end of the pattern open: a longer uid is well-formed, and no row has it. */
const ListingPath = Type.Object({
  listingUid: Type.String({
    pattern: '^[-_0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'The listing, which is an assessment.',
    examples: ['acme-web-2026'],
  }),
});

const assetUid = (example: string) => Type.String({ maxLength: MAX_TEXT, examples: [example] });

const ScopeRules = Type.Array(
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
const changeBody = (maxItems: number) =>
  Type.Object(
    {
      add: Type.Optional(
        Type.Array(
          Type.Object(
            {
              assetUid: assetUid('5f0c1e2d3b4a59687786a5b4'),
              scopeRules: Type.Optional(ScopeRules),
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
        Type.Array(assetUid('6a1d2f3e4c5b6a79788695a4'), {
          maxItems,
          description: 'The uids of assets to take off the listing; the assets themselves stay.',
        }),
      ),
    },
    { title: 'Listing change' },
  );

const declareChangeListingAssets = ({ clock, config, db }: Context) =>
  operation({
    id: 'changeListingAssets',
    number: 11,
    summary: 'Add or remove assets of a listing',
    description:
      'Associates assets with a listing, with their scope rules, and takes others off it. Assets that are unknown or out of reach are ignored.',
    method: 'PATCH',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    params: ListingPath,
    body: changeBody(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    answers: { 204: { description: 'The listing has the assets.' } },
    handler({ caller, params: { listingUid }, body }) {
      const plan = planListingChange(body);
      return db.write((tx) => changeListingAssets(tx, { actor: caller, now: clock() }, listingUid, plan));
    },
  });

const ListedAssetBody = Type.Object(
  {
    assetUid: Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET] }),
    location: storedText('192.0.2.10'),
    assetType: Type.String({ enum: [...ASSET_TYPES], maxLength: 16, examples: ['host'] }),
    criticality: Type.String({ enum: [...CRITICALITIES], maxLength: 16, examples: ['high'] }),
    scopeRules: AssetScopeRules,
    createdAt: DateTime,
  },
  { title: 'Asset of a listing' },
);

const declareListListingAssets = (context: Context) =>
  listOperation(context, {
    id: 'listListingAssets',
    number: 79,
    summary: 'List assets of a listing',
    description:
      'The assets of a listing that your token reaches, by location, with their scope rules in it.',
    path: '/v2/listings/:listingUid/assets',
    access: { scopes: ASSET_READ_SCOPES, schemes: 'bearer' },
    params: ListingPath,
    style: 'flat',
    list: listingAssetList,
    filters: {
      assetType: 'Of one of these types.',
      search: 'A part of the name or the location, without regard to case.',
    },
    usualSort: { order: 'location' },
    within: async (reading, { listingUid }) => ({ listing: [await findListing(reading, listingUid)] }),
    schema: ListedAssetBody,
    row: (asset) => ({
      assetUid: asset.uid,
      location: asset.location,
      assetType: asset.type,
      criticality: asset.criticality,
      scopeRules: asset.scopeRules.map((rule) => ({ rule })),
      createdAt: isoTime(asset.createdAt),
    }),
  });

export const LISTING_OPERATIONS = [declareChangeListingAssets, declareListListingAssets];
