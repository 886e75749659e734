import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { PHASES, VULNERABILITY_STATUSES } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { MAX_FINDING } from '../../domain/vulnerabilities/vulnerability-fields.ts';
import { deleteVulnerability } from '../../domain/vulnerabilities/delete-vulnerability.ts';
import { editVulnerability } from '../../domain/vulnerabilities/replace-vulnerability.ts';
import { reportVulnerability, sharedReports } from '../../domain/vulnerabilities/create-vulnerability.ts';
import {
  readVulnerability,
  type WholeVulnerability,
} from '../../domain/vulnerabilities/read-vulnerability.ts';
import { operation } from '../../http/operation.ts';
import { orNull, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { FINDING, FINDING_INPUTS, findingInput, MAX_SHORT_TEXT } from './vulnerability-fields.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';
import {
  Day,
  flowPosition,
  flowType,
  wholeVulnerabilityBody,
  WholeVulnerabilityBody,
} from './vulnerability-schema.ts';

const collection = '/vulnerabilities';
export const VULNERABILITY_PATH = `${collection}/:id`;

const StatusId = Type.Integer({
  minimum: 1,
  maximum: VULNERABILITY_STATUSES.length,
  description: `One of ${VULNERABILITY_STATUSES.map(({ id, name }) => `${id} ${name}`).join(', ')}.`,
  examples: [2],
});
const AssessmentUid = Type.String({
  maxLength: MAX_SHORT_TEXT,
  description: 'The uid of an assessment.',
  examples: ['acme-web-2026'],
});
const UserId = Type.Integer({ description: 'Of a user with access to the assessment.', examples: [1] });

const SIZE = `At most ${MAX_FINDING / 1024} KiB in all.`;

const declareGetVulnerability = (context: Context) =>
  operation({
    id: 'getVulnerability',
    number: 16,
    summary: 'Get a vulnerability',
    description: 'The vulnerability with all that is known of it.',
    method: 'GET',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idPath('The id of a vulnerability.', 1),
    answers: { 200: { description: 'The vulnerability.', schema: WholeVulnerabilityBody } },
    versioned: true,
    async handler({ caller, params: { id } }) {
      const vulnerability = await readVulnerability(context.db.read, caller, id);
      return versioned(vulnerability.version, wholeVulnerabilityBody(vulnerability, context));
    },
  });

const StatusOfCatalogue = Type.Object(
  {
    id: Type.Integer(),
    name: storedText('Pending Fix'),
    description: storedText('It is real and has to be fixed.'),
    phase: Type.Enum([...PHASES], { type: 'string' }),
    flow_type: Type.Integer({ description: '0 new, 1 open, 2 closed.' }),
    flow_position: Type.Integer({ description: 'Its place in the catalogue, from 0.' }),
  },
  { title: 'Status of the catalogue' },
);

const declareListVulnerabilityStatuses = () =>
  operation({
    id: 'listVulnerabilityStatuses',
    number: 17,
    summary: 'List the statuses of vulnerabilities',
    description: 'The catalogue behind `status_id`. Any move is allowed.',
    method: 'GET',
    path: '/vulnerability_statuses',
    access: V1_ACCESS,
    answers: {
      200: { description: 'The catalogue.', schema: Type.Array(StatusOfCatalogue, { maxItems: 100 }) },
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

const declareCreateVulnerability = (context: Context) => {
  const reportTogether = sharedReports(context.db);
  return operation({
    id: 'createVulnerability',
    number: 18,
    summary: 'Create a vulnerability',
    description: `Reports a vulnerability of an assessment that you have access to. ${SIZE}`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: Type.Object(
      {
        assessment_id: AssessmentUid,
        ...FINDING,
        status_id: Type.Optional(StatusId),
        assignee_id: Type.Optional(UserId),
        due_on: Type.Optional(Day),
      },
      { title: 'New vulnerability' },
    ),
    answers: {
      201: {
        description: 'The vulnerability.',
        schema: WholeVulnerabilityBody,
        headers: { Location: { type: 'string', maxLength: 4_096, description: 'Where it can be read.' } },
      },
    },
    inputs: FINDING_INPUTS,
    versioned: true,
    repeats: true,
    handler({ caller, change, body }) {
      const act = { actor: caller, now: context.clock() };
      const input = {
        ...findingInput(body),
        assessment: body.assessment_id,
        statusId: body.status_id,
        assigneeId: body.assignee_id,
        dueOn: body.due_on,
      };
      const answerOf = (vulnerability: WholeVulnerability) =>
        versioned(vulnerability.version, wholeVulnerabilityBody(vulnerability, context), {
          location: `${collection}/${vulnerability.id}`,
        });
      return change(async (tx) => answerOf(await reportVulnerability(tx, act, input)), {
        together: async () => answerOf(await reportTogether(act, input)),
      });
    },
  });
};

const declareReplaceVulnerability = (context: Context) =>
  operation({
    id: 'replaceVulnerability',
    number: 19,
    summary: 'Edit a vulnerability',
    description: `Replaces what is said of it. What is absent gets its default; status, tags, assignee, \`due_on\` and assessment stay. ${SIZE}`,
    method: 'PUT',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idPath('The id of a vulnerability.', 1),
    body: Type.Object(
      {
        assessment_id: Type.Optional(AssessmentUid),
        ...FINDING,
        status_id: Type.Optional(StatusId),
        assignee_id: Type.Optional(orNull(UserId)),
        due_on: Type.Optional(orNull(Day)),
      },
      { title: 'Vulnerability replacement' },
    ),
    answers: { 200: { description: 'The vulnerability as it is now.', schema: WholeVulnerabilityBody } },
    inputs: FINDING_INPUTS,
    versioned: true,
    async handler({ caller, expected, params: { id }, body }) {
      const act = { actor: caller, now: context.clock() };
      const edit = {
        ...findingInput(body),
        assessment: body.assessment_id,
        statusId: body.status_id,
        assigneeId: body.assignee_id,
        dueOn: body.due_on,
      };
      const vulnerability = await context.db.write((tx) => editVulnerability(tx, act, id, edit, expected));
      return versioned(vulnerability.version, wholeVulnerabilityBody(vulnerability, context));
    },
  });

const declareDeleteVulnerability = ({ clock, db }: Context) =>
  operation({
    id: 'deleteVulnerability',
    number: 20,
    summary: 'Delete a vulnerability',
    description:
      'Deletes it with its comments, retests, attachments and timeline. For admins. The audit log keeps its last state.',
    method: 'DELETE',
    path: VULNERABILITY_PATH,
    access: V1_ACCESS,
    params: idPath('The id of a vulnerability.', 12),
    answers: { 204: { description: 'The vulnerability is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id } }) =>
      db.write((tx) => deleteVulnerability(tx, { actor: caller, now: clock() }, id, expected)),
  });

export const REPORTED_VULNERABILITY_OPERATIONS = [
  declareReplaceVulnerability,
  declareDeleteVulnerability,
  declareGetVulnerability,
  declareListVulnerabilityStatuses,
  declareCreateVulnerability,
];
