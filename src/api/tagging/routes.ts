import { STRICT_TAG_SCOPES, TAG_SCOPES } from '../../auth/scopes.ts';
import { changeAssetTaggings } from '../../domain/assets/asset-taggings.ts';
import { createAssetTags } from '../../domain/assets/asset-tags.ts';
import { actOfCaller } from '../../http/access.ts';
import type { RegisterRoutes } from '../../http/area-plugin.ts';
import { AREAS } from '../../http/areas.ts';
import { errorResponses, MAX_TEXT } from '../../http/schemas.ts';
import { changeTaggingsBody, createTagsBody, OrganizationPath, TagsResponse } from './schemas.ts';

const area = AREAS.tagging;

/** Operations 8 and 9. */
export const registerTaggingRoutes: RegisterRoutes = (app, { addresses, clock, config, db }) => {
  const accepted = config.strictScopes ? STRICT_TAG_SCOPES : TAG_SCOPES;
  const access = { scopes: accepted, schemes: 'bearer' } as const;

  app.post(
    '/v1.0/organizations/:orgUid/tags',
    {
      config: { operation: 'createAssetTags', access },
      bodyLimit: config.bodyLimit,
      schema: {
        operationId: 'createAssetTags',
        summary: '8. Create asset tags',
        description: 'Creates tags under an organization and attaches them to assets. All or nothing.',
        params: OrganizationPath,
        body: createTagsBody(config.maxTagBatch),
        response: {
          201: {
            description: 'The tags were created.',
            headers: PAGINATION_HEADERS,
            content: { 'application/json': { schema: TagsResponse } },
          },
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request, reply) => {
      const { orgUid } = request.params;
      const act = { ...actOfCaller(request, clock()), accepted };
      const tags = await db.write((tx) => createAssetTags(tx, act, orgUid, request.body.tags));
      const self = `${addresses.clientBaseUrl}${area.prefix}/v1.0/organizations/${orgUid}/tags`;
      return reply
        .code(201)
        .headers({
          'Pagination-Limit': config.maxTagBatch,
          'Pagination-Current-Page': 1,
          'Pagination-Total-Pages': 1,
          'Pagination-Total-Count': tags.length,
          Link: `<${self}>; rel="first", <${self}>; rel="last"`,
        })
        .send({ tags });
    },
  );

  app.patch(
    '/v1.0/organizations/:orgUid/tags',
    {
      config: { operation: 'changeAssetTaggings', access },
      bodyLimit: config.bodyLimit,
      schema: {
        operationId: 'changeAssetTaggings',
        summary: '9. Attach or detach entities to or from tags',
        description:
          'Attaches assets to every one of the tags, and detaches others from them. All or nothing.',
        params: OrganizationPath,
        body: changeTaggingsBody(config.maxTagBatch),
        response: {
          204: { description: 'The tags have the entities.', type: 'null' },
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request, reply) => {
      const act = { ...actOfCaller(request, clock()), accepted };
      await db.write((tx) => changeAssetTaggings(tx, act, request.params.orgUid, request.body));
      return reply.code(204).send();
    },
  );
};

const count = (description: string) => ({ description, type: 'integer' });
const PAGINATION_HEADERS = {
  'Pagination-Limit': count('The most tags that one request creates.'),
  'Pagination-Current-Page': count('Always 1.'),
  'Pagination-Total-Pages': count('Always 1.'),
  'Pagination-Total-Count': count('How many tags were created.'),
  Link: { description: 'RFC 8288.', type: 'string', maxLength: MAX_TEXT },
};
