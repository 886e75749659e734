import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { PHASES, VULNERABILITY_STATUSES } from '../../domain/shared/statuses-and-severities.ts';
import { validateNameLength } from '../../domain/shared/names.ts';
import {
  MAX_VULNERABILITY_BYTES,
  validateVulnerability,
} from '../../domain/vulnerabilities/vulnerability-fields.ts';
import { requireDraftRight } from '../../domain/vulnerabilities/drafts.ts';
import { deleteVulnerability } from '../../domain/vulnerabilities/delete-vulnerability.ts';
import { replaceVulnerability } from '../../domain/vulnerabilities/replace-vulnerability.ts';
import {
  createVulnerability,
  createVulnerabilityBatcher,
} from '../../domain/vulnerabilities/create-vulnerability.ts';
import { readVulnerabilityRights } from '../../domain/vulnerabilities/vulnerability-rights.ts';
import { readVulnerability, type Vulnerability } from '../../domain/vulnerabilities/read-vulnerability.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { nullable, textSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import {
  draftField,
  reasonField,
  VULNERABILITY_FIELDS,
  VULNERABILITY_FIELD_NAMES,
  toVulnerabilityInput,
  MAX_SHORT_TEXT,
} from './vulnerability-fields.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';
import {
  DateSchema,
  flowPosition,
  flowType,
  toVulnerabilityBody,
  VulnerabilitySchema,
  StatusNameSchema,
} from './vulnerability-schema.ts';

const collection = '/vulnerabilities';
export const VULNERABILITY_PATH = `${collection}/:id`;

const StatusIdSchema = Type.Integer({
  minimum: 1,
  maximum: VULNERABILITY_STATUSES.length,
  description: `One of ${VULNERABILITY_STATUSES.map(({ id, name }) => `${id} ${name}`).join(', ')}.`,
  examples: [2],
});
const AssessmentUidSchema = Type.String({
  maxLength: MAX_SHORT_TEXT,
  description: 'The uid of an assessment.',
  examples: ['acme-web-2026'],
});
const UserIdSchema = Type.Integer({
  description:
    'The id of a user with access to the assessment. Client users can name staff only if they are assigned to their organization or have worked for it.',
  examples: [1],
});

const SIZE_DESCRIPTION = `The request can have at most ${MAX_VULNERABILITY_BYTES / 1024} KiB.`;

const getVulnerabilityOperation = (context: Context) =>
  operation({
    id: 'getVulnerability',
    number: 16,
    summary: 'Get a vulnerability',
    description: 'Returns the vulnerability with all of its properties.',
    method: 'GET',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idParams('The id of a vulnerability.', 1),
    responses: { 200: { description: 'The vulnerability.', schema: VulnerabilitySchema } },
    versioned: true,
    async handler({ caller, params: { id } }) {
      const { read } = context.db;
      const vulnerability = await readVulnerability(read, caller, id);
      const { decideRetest, ...rights } = await readVulnerabilityRights(read, caller, id);
      return versionedResult(vulnerability.version, {
        ...toVulnerabilityBody(vulnerability, context),
        may: { ...rights, decide_retest: decideRetest },
      });
    },
  });

const VulnerabilityStatusSchema = Type.Object(
  {
    id: Type.Integer(),
    name: StatusNameSchema,
    description: textSchema('Confirmed, and must be fixed.'),
    phase: Type.Enum([...PHASES], { type: 'string' }),
    flow_type: Type.Integer({ description: '0 new, 1 open, 2 closed.' }),
    flow_position: Type.Integer({ description: 'The position in the workflow, starting at 0.' }),
  },
  { title: 'Status of the catalogue' },
);

const listVulnerabilityStatusesOperation = () =>
  operation({
    id: 'listVulnerabilityStatuses',
    number: 17,
    summary: 'List the statuses of vulnerabilities',
    description:
      'Lists the statuses that `status_id` can have. A vulnerability can move from any status to any other.',
    method: 'GET',
    path: '/vulnerability_statuses',
    access: V1_ACCESS,
    responses: {
      200: {
        description: 'The statuses.',
        schema: Type.Array(VulnerabilityStatusSchema, { maxItems: 100 }),
      },
    },
    async handler() {
      return VULNERABILITY_STATUSES.map(({ id, name, description, phase }) => ({
        id,
        name,
        description,
        phase,
        flow_type: flowType(id),
        flow_position: flowPosition(id),
      }));
    },
  });

const createVulnerabilityOperation = (context: Context) => {
  const createInBatch = createVulnerabilityBatcher(context.db);
  return operation({
    id: 'createVulnerability',
    number: 18,
    summary: 'Create a vulnerability',
    description: `Creates a vulnerability in an assessment that the caller has access to. ${SIZE_DESCRIPTION}`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: Type.Object(
      {
        assessment_id: AssessmentUidSchema,
        ...VULNERABILITY_FIELDS,
        status_id: Type.Optional(StatusIdSchema),
        assignee_id: Type.Optional(UserIdSchema),
        due_on: Type.Optional(DateSchema),
        draft: draftField('Whether it begins as a draft. By default, as the assessment says.'),
      },
      { title: 'New vulnerability' },
    ),
    responses: {
      201: {
        description: 'The vulnerability.',
        schema: VulnerabilitySchema,
        headers: {
          Location: {
            type: 'string',
            maxLength: 4_096,
            description: 'The URL of the created vulnerability.',
          },
        },
      },
    },
    inputs: VULNERABILITY_FIELD_NAMES,
    validate: (body) => validateVulnerability(toVulnerabilityInput(body)),
    versioned: true,
    idempotency: true,
    handler({ abortState, caller, writeOnce, body }) {
      requireDraftRight(caller, body.draft);
      const by = { actor: caller, now: context.clock() };
      const input = {
        ...toVulnerabilityInput(body),
        assessment: body.assessment_id,
        assigneeId: body.assignee_id,
        draft: body.draft,
      };
      const toResult = (vulnerability: Vulnerability) =>
        versionedResult(vulnerability.version, toVulnerabilityBody(vulnerability, context), {
          location: `${collection}/${vulnerability.id}`,
        });
      return writeOnce(async (tx) => toResult(await createVulnerability(tx, by, input)), {
        batched: async () => toResult(await createInBatch(by, input, abortState)),
      });
    },
  });
};

const replaceVulnerabilityOperation = (context: Context) =>
  operation({
    id: 'replaceVulnerability',
    number: 19,
    summary: 'Replace a vulnerability',
    description: `Replaces the content of the vulnerability. An absent property gets its default; status, tags, assignee, \`due_on\` and assessment are unchanged if absent. ${SIZE_DESCRIPTION}`,
    method: 'PUT',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idParams('The id of a vulnerability.', 1),
    body: Type.Object(
      {
        assessment_id: Type.Optional(AssessmentUidSchema),
        ...VULNERABILITY_FIELDS,
        status_id: Type.Optional(StatusIdSchema),
        assignee_id: Type.Optional(nullable(UserIdSchema)),
        due_on: Type.Optional(nullable(DateSchema)),
        comment: reasonField,
        draft: draftField('`false` publishes a draft. What is published never becomes a draft again.'),
      },
      { title: 'Vulnerability replacement' },
    ),
    responses: { 200: { description: 'The updated vulnerability.', schema: VulnerabilitySchema } },
    inputs: VULNERABILITY_FIELD_NAMES,
    // The other rules for names depend on the stored ones.
    validate: (body) => validateVulnerability(toVulnerabilityInput(body), validateNameLength),
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, body, write }) {
      const by = { actor: caller, now: context.clock() };
      const edit = {
        ...toVulnerabilityInput(body),
        assessment: body.assessment_id,
        assigneeId: body.assignee_id,
        comment: body.comment,
        draft: body.draft,
      };
      const vulnerability = await write((tx) => replaceVulnerability(tx, by, id, edit, ifMatch));
      return versionedResult(vulnerability.version, toVulnerabilityBody(vulnerability, context));
    },
  });

const deleteVulnerabilityOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteVulnerability',
    number: 20,
    summary: 'Delete a vulnerability',
    description:
      'Deletes the vulnerability with its comments, retests, attachments and timeline. The audit log keeps its last state. Requires an admin.',
    method: 'DELETE',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idParams('The id of a vulnerability.', 12),
    responses: { 204: { description: 'The vulnerability was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id }, write }) =>
      write((tx) => deleteVulnerability(tx, { actor: caller, now: clock() }, id, ifMatch)),
  });

export default operationsOf('v1', [
  replaceVulnerabilityOperation,
  deleteVulnerabilityOperation,
  getVulnerabilityOperation,
  listVulnerabilityStatusesOperation,
  createVulnerabilityOperation,
]);
