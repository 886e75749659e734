import { Type } from 'typebox';
import { CRITICALITIES } from '../../domain/assets/assets.ts';
import { MAX_SCOPE_RULE_LENGTH, MAX_SCOPE_RULES } from '../../domain/assessments/listings.ts';
import { MAX_TEXT } from '../../http/schemas.ts';

/** The specification leaves the ends of its patterns open: a longer uid is well-formed, and no row has it. */
const ASSET_UID = '5f0c1e2d3b4a59687786a5b4';

/** @param maxItems the largest batch */
export const updateCriticalityBody = (maxItems: number) =>
  Type.Object({
    organizationUid: Type.String({
      pattern: '^[-_0-9a-z]{1,50}',
      maxLength: MAX_TEXT,
      description: 'The organization that the assets belong to.',
      examples: ['acme'],
    }),
    criticality: Type.Enum([...CRITICALITIES], { type: 'string', examples: ['high'] }),
    assetUids: Type.Array(
      Type.String({ pattern: '^[0-9a-f]{24}', maxLength: MAX_TEXT, examples: [ASSET_UID] }),
      { minItems: 1, maxItems },
    ),
  });

export const UpdatedCount = Type.Object({
  updatedCount: Type.Integer({
    minimum: 0,
    description: 'How many assets have another criticality now than before.',
    examples: [3],
  }),
});

export const ListingPath = Type.Object({
  listingUid: Type.String({
    pattern: '^[-_0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'The listing, which is an assessment.',
    examples: ['acme-2026'],
  }),
});

/** @param maxItems the largest batch */
export const changeListingAssetsBody = (maxItems: number) =>
  Type.Object({
    add: Type.Optional(
      Type.Array(
        Type.Object({
          assetUid: Type.String({ maxLength: MAX_TEXT, examples: [ASSET_UID] }),
          scopeRules: Type.Optional(
            Type.Array(
              Type.Object({
                rule: Type.String({
                  minLength: 1,
                  maxLength: MAX_SCOPE_RULE_LENGTH,
                  examples: ['Only between 22:00 and 06:00 UTC'],
                }),
              }),
              {
                maxItems: MAX_SCOPE_RULES,
                description: 'Replaces the rules that the asset has here; absent, they stay.',
              },
            ),
          ),
        }),
        { maxItems, description: 'Assets to associate with the listing.' },
      ),
    ),
    remove: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: [ASSET_UID] }), {
        maxItems,
        description: 'The uids of assets to take off the listing; the assets themselves stay.',
      }),
    ),
  });
