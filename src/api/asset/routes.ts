import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import { updateCriticality } from '../../domain/assets/criticality.ts';
import { changeListingAssets } from '../../domain/assessments/listings.ts';
import { actOfCaller } from '../../http/access.ts';
import type { RegisterRoutes } from '../../http/area-plugin.ts';
import { AREAS } from '../../http/areas.ts';
import { errorResponses } from '../../http/schemas.ts';
import { changeListingAssetsBody, ListingPath, UpdatedCount, updateCriticalityBody } from './schemas.ts';

const area = AREAS.asset;

/** The router reads `::` as a plain colon. It keeps one that a client has encoded as it is, outside of parameters. */
const CRITICALITY_UPDATE = '/v2/bulk/assets/criticality::update';
const CRITICALITY_UPDATE_ENCODED = '/v2/bulk/assets/:encoded(^criticality:update$)';

/** Operations 10 and 11. */
export const registerAssetRoutes: RegisterRoutes = (app, { clock, config, db }) => {
  const access = { scopes: ASSET_WRITE_SCOPES, schemes: 'bearer' } as const;

  for (const path of [CRITICALITY_UPDATE, CRITICALITY_UPDATE_ENCODED]) {
    app.post(
      path,
      {
        config: { operation: 'updateAssetCriticality', access },
        bodyLimit: config.bodyLimit,
        schema: {
          operationId: 'updateAssetCriticality',
          summary: '10. Bulk update asset criticality',
          description:
            'Sets the criticality of assets of one organization. Assets that are unknown or out of reach are ignored.',
          hide: path !== CRITICALITY_UPDATE,
          body: updateCriticalityBody(config.maxAssetBatch),
          response: {
            200: {
              description: 'The assets have the criticality.',
              content: { 'application/json': { schema: UpdatedCount } },
            },
            ...errorResponses(area, [400, 409, 413, 415, 422]),
          },
        },
      },
      async (request) => {
        const act = actOfCaller(request, clock());
        const updatedCount = await db.write((tx) => updateCriticality(tx, act, request.body));
        return { updatedCount };
      },
    );
  }

  app.patch(
    '/v2/listings/:listingUid/assets',
    {
      config: { operation: 'changeListingAssets', access },
      bodyLimit: config.bodyLimit,
      schema: {
        operationId: 'changeListingAssets',
        summary: '11. Add or remove assets of a listing',
        description:
          'Associates assets with a listing, with their scope rules, and takes others off it. Assets that are unknown or out of reach are ignored.',
        params: ListingPath,
        body: changeListingAssetsBody(config.maxAssetBatch),
        response: {
          204: { description: 'The listing has the assets.', type: 'null' },
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request, reply) => {
      const act = actOfCaller(request, clock());
      await db.write((tx) => changeListingAssets(tx, act, request.params.listingUid, request.body));
      return reply.code(204).send();
    },
  );
};
