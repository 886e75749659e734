import { Type } from 'typebox';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import {
  changeListingAssets,
  MAX_SCOPE_RULE_LENGTH,
  MAX_SCOPE_RULES,
  planListingChange,
} from '../../domain/assessments/listings.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';

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

export const LISTING_OPERATIONS = [declareChangeListingAssets];
