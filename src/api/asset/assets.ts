import { Type } from 'typebox';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import { CRITICALITIES } from '../../domain/assets/assets.ts';
import { updateCriticality } from '../../domain/assets/criticality.ts';
import { operation } from '../../http/operation.ts';
import { MAX_TEXT } from '../../http/schemas.ts';

/** The specification leaves the ends of its patterns open: a longer uid is well-formed, and no row has it. */
const AssetUid = Type.String({
  pattern: '^[0-9a-f]{24}',
  maxLength: MAX_TEXT,
  examples: ['5f0c1e2d3b4a59687786a5b4'],
});

/** @param maxItems the largest batch */
const criticalityBody = (maxItems: number) =>
  Type.Object(
    {
      organizationUid: Type.String({
        pattern: '^[-_0-9a-z]{1,50}',
        maxLength: MAX_TEXT,
        description: 'The organization that the assets belong to.',
        examples: ['acme'],
      }),
      criticality: Type.Enum([...CRITICALITIES], { type: 'string', examples: ['high'] }),
      assetUids: Type.Array(AssetUid, { minItems: 1, maxItems }),
    },
    { title: 'Criticality update' },
  );

const UpdatedCount = Type.Object(
  {
    updatedCount: Type.Integer({
      minimum: 0,
      description: 'How many assets have another criticality now than before.',
      examples: [3],
    }),
  },
  { title: 'Updated count' },
);

const declareUpdateAssetCriticality = ({ clock, config, db }: Context) =>
  operation({
    id: 'updateAssetCriticality',
    number: 10,
    summary: 'Bulk update asset criticality',
    description:
      'Sets the criticality of assets of one organization. Assets that are unknown or out of reach are ignored.',
    method: 'POST',
    // The router reads `::` as a plain colon. It keeps one that a client has encoded as it is, outside of parameters.
    path: '/v2/bulk/assets/criticality::update',
    alsoAt: '/v2/bulk/assets/:encoded(^criticality:update$)',
    access: { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' },
    body: criticalityBody(config.maxAssetBatch),
    bodyLimit: config.bodyLimit,
    answers: { 200: { description: 'The assets have the criticality.', schema: UpdatedCount } },
    handler: async ({ caller, body }) => ({
      updatedCount: await db.write((tx) => updateCriticality(tx, { actor: caller, now: clock() }, body)),
    }),
  });

export const ASSET_OPERATIONS = [declareUpdateAssetCriticality];
