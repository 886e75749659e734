import type { TSchema } from 'typebox';
import { invitationUrl } from '../../auth/invitations.ts';
import { API_SCOPE } from '../../auth/scopes.ts';
import { createAssessmentTagAs, renameAssessmentTag } from '../../domain/assessments/assessment-tags.ts';
import { banUserAs } from '../../domain/people/bans.ts';
import { testingHours } from '../../domain/assessments/testing-hours.ts';
import { updateVulnerability } from '../../domain/vulnerabilities/vulnerability-changes.ts';
import {
  deleteVulnerabilityTag,
  renameVulnerabilityTag,
} from '../../domain/vulnerabilities/vulnerability-tags.ts';
import { actOfCaller, callerOf } from '../../http/access.ts';
import type { RegisterRoutes } from '../../http/area-plugin.ts';
import { AREAS } from '../../http/areas.ts';
import { MEDIUM_BODY, SMALL_BODY } from '../../http/json-bodies.ts';
import { errorResponses } from '../../http/schemas.ts';
import {
  AssessmentPath,
  AssessmentTagPath,
  AssessmentTagResponse,
  CreateAssessmentTagBody,
  RenameBody,
  TestingHoursResponse,
  UpdateVulnerabilityBody,
  UserPath,
  UserResponse,
  VulnerabilityPath,
  VulnerabilityResponse,
  VulnerabilityTagPath,
  VulnerabilityTagResponse,
} from './schemas.ts';

const area = AREAS.v1;
const access = { scopes: API_SCOPE, schemes: 'all' } as const;

/** Operations 1 to 7. */
export const registerV1Routes: RegisterRoutes = (app, { addresses, clock, db, keys }) => {
  app.delete(
    '/vulnerability_tags/:id',
    {
      config: { operation: 'deleteVulnerabilityTag', access },
      bodyLimit: SMALL_BODY,
      schema: {
        operationId: 'deleteVulnerabilityTag',
        summary: '1. Delete a vulnerability tag',
        description: 'Deletes the tag and takes it off every vulnerability.',
        params: VulnerabilityTagPath,
        response: {
          204: { description: 'The tag is deleted.', type: 'null' },
          ...errorResponses(area, [400, 413, 415]),
        },
      },
    },
    async (request, reply) => {
      const id = rowId(request.params.id);
      await db.write((tx) => deleteVulnerabilityTag(tx, actOfCaller(request, clock()), id));
      return reply.code(204).send();
    },
  );

  app.put(
    '/vulnerability_tags/:id',
    {
      config: { operation: 'updateVulnerabilityTag', access },
      bodyLimit: SMALL_BODY,
      schema: {
        operationId: 'updateVulnerabilityTag',
        summary: '2. Update a vulnerability tag',
        description: 'Renames the tag.',
        params: VulnerabilityTagPath,
        body: RenameBody,
        response: {
          200: ok('The tag with its new name.', VulnerabilityTagResponse),
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request) => {
      const id = rowId(request.params.id);
      const { name } = request.body;
      return db.write((tx) => renameVulnerabilityTag(tx, actOfCaller(request, clock()), id, name));
    },
  );

  app.post(
    '/assessment_tags',
    {
      config: { operation: 'createAssessmentTag', access },
      bodyLimit: SMALL_BODY,
      schema: {
        operationId: 'createAssessmentTag',
        summary: '3. Create an assessment tag',
        description: 'Creates a tag and puts it on the assessment. For organization admins.',
        body: CreateAssessmentTagBody,
        response: {
          201: ok('The tag was created.', AssessmentTagResponse),
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request, reply) => {
      const { name, assessment_id: assessment } = request.body;
      const tag = await db.write((tx) =>
        createAssessmentTagAs(tx, actOfCaller(request, clock()), { name, assessment }),
      );
      return reply.code(201).send(tag);
    },
  );

  app.put(
    '/assessment_tags/:id',
    {
      config: { operation: 'updateAssessmentTag', access },
      bodyLimit: SMALL_BODY,
      schema: {
        operationId: 'updateAssessmentTag',
        summary: '4. Update an assessment tag name',
        description: 'Renames the tag. For organization admins.',
        params: AssessmentTagPath,
        body: RenameBody,
        response: {
          200: ok('The tag with its new name.', AssessmentTagResponse),
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request) => {
      const id = rowId(request.params.id);
      const { name } = request.body;
      return db.write((tx) => renameAssessmentTag(tx, actOfCaller(request, clock()), id, name));
    },
  );

  app.patch(
    '/vulnerabilities/:id',
    {
      config: { operation: 'updateVulnerability', access },
      bodyLimit: MEDIUM_BODY,
      schema: {
        operationId: 'updateVulnerability',
        summary: '5. Update a vulnerability',
        description: 'Updates the status, replaces the tags, or both. What is absent stays as it is.',
        params: VulnerabilityPath,
        body: UpdateVulnerabilityBody,
        response: {
          200: ok('The vulnerability as it is now.', VulnerabilityResponse),
          ...errorResponses(area, [400, 409, 413, 415, 422]),
        },
      },
    },
    async (request) => {
      const id = rowId(request.params.id);
      return db.write((tx) => updateVulnerability(tx, actOfCaller(request, clock()), id, request.body));
    },
  );

  app.delete(
    '/users/:id',
    {
      config: { operation: 'banUser', access, bodiless: [403, 404] },
      bodyLimit: SMALL_BODY,
      schema: {
        operationId: 'banUser',
        summary: '6. Ban or delete a user',
        description:
          'Bans the user, which ends their sessions, tokens and API keys at once. A user who was invited and never signed in is deleted. For admins.',
        params: UserPath,
        response: {
          200: ok('The user is banned.', UserResponse),
          ...errorResponses(area, [400, 413, 415], [403, 404]),
        },
      },
    },
    async (request) => {
      const id = rowId(request.params.id);
      const act = actOfCaller(request, clock());
      const user = await db.write((tx) => banUserAs(tx, act, id));
      const inviteUrl = user.accepted ? null : invitationUrl(addresses.clientBaseUrl, keys.secret, user);
      return {
        id: user.id,
        email: user.email,
        assessment_ids: user.assessmentIds,
        banned: true,
        ...(act.actor.admin ? { admin: user.admin, invite_url: inviteUrl } : {}),
      };
    },
  );

  app.get(
    '/assessments/:id/testing_hours',
    {
      config: { operation: 'getTestingHours', access },
      schema: {
        operationId: 'getTestingHours',
        summary: '7. Get testing hours for an assessment',
        description: 'Adds up the hours that testers logged; a session that runs counts until now.',
        params: AssessmentPath,
        response: {
          200: ok('The testing hours.', TestingHoursResponse),
          ...errorResponses(area, [400]),
        },
      },
    },
    async (request) => testingHours(db.read, callerOf(request), request.params.id, clock()),
  );
};

/**
 * Reads the id of a row from a path. What cannot be one becomes 0, which no row has, so it is answered like every other
 * unknown id, in the same order among the errors.
 */
function rowId(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(id) ? id : 0;
}

const ok = <T extends TSchema>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } },
});
