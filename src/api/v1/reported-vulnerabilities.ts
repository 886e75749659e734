import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { PHASES, SEVERITIES, VULNERABILITY_STATUSES } from '../../domain/vulnerabilities/catalogue.ts';
import { MAX_FINDING } from '../../domain/vulnerabilities/finding.ts';
import { LOCATION_TYPES } from '../../domain/vulnerabilities/locations.ts';
import { reportVulnerability } from '../../domain/vulnerabilities/vulnerabilities.ts';
import { deleteVulnerability, editVulnerability } from '../../domain/vulnerabilities/vulnerability-edits.ts';
import { readVulnerability } from '../../domain/vulnerabilities/whole-vulnerabilities.ts';
import { operation } from '../../http/operation.ts';
import { nameText, orNull, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/versions.ts';
import { idPath, V1_ACCESS } from './row-ids.ts';
import { TagInputs, tagsInput } from './vulnerability-tag-inputs.ts';
import {
  Day,
  flowPosition,
  flowType,
  wholeVulnerabilityBody,
  WholeVulnerabilityBody,
} from './whole-vulnerability.ts';

const collection = '/vulnerabilities';
export const VULNERABILITY_PATH = `${collection}/:id`;

const MAX_TEXT = 65_536;
const MAX_SHORT_TEXT = 2_048;
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: MAX_TEXT, description, examples: [example] }));
const shortText = (example: string) =>
  Type.Optional(Type.String({ maxLength: MAX_SHORT_TEXT, examples: [example] }));
const port = Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, examples: [443] }));
const texts = (maxItems: number, maxLength: number, example: string, description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength, examples: [example] }), { maxItems, description }));

const LocationInput = Type.Object(
  {
    type: Type.Enum([...LOCATION_TYPES], { type: 'string' }),
    value: shortText('https://acme.example/search?q=1'),
    address: shortText('192.0.2.10'),
    port,
    protocol: shortText('tcp'),
  },
  { title: 'New exploitable location' },
);

const StepInput = Type.Object(
  {
    detail: Type.String({ maxLength: MAX_TEXT, examples: ['Search for an apostrophe.'] }),
    url: shortText('https://acme.example/search'),
    ip_address: shortText('192.0.2.10'),
    port,
    port_type: shortText('tcp'),
  },
  { title: 'New validation step' },
);

const MAX_ASSETS = 1_000;
const MAX_LONGEST = 1_000;

/** What 18 and 19 take alike. */
const FINDING = {
  title: nameText('SQL injection in the search form'),
  severity: Type.Enum([...SEVERITIES], { type: 'string' }),
  description: text('Markdown.', 'The parameter q reaches the database as it is.'),
  cvss_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 10, description: 'At most one decimal.', examples: [9.8] }),
  ),
  cvss_vector: Type.Optional(
    Type.String({
      maxLength: 512,
      description: 'Of CVSS 3.0, 3.1 or 4.0. The score follows from it.',
      examples: ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'],
    }),
  ),
  impact: text('Markdown.', 'Whoever asks can read all customers.'),
  recommended_fix: text('Markdown.', 'Bind parameters.'),
  category: Type.Optional(
    Type.Object(
      { parent: nameText('Injection'), display: nameText('SQL injection') },
      { title: 'New vulnerability category' },
    ),
  ),
  cve_ids: texts(1_000, 64, 'CVE-2021-44228', 'In any case.'),
  cwe_ids: texts(1_000, 64, 'CWE-89', 'In any case.'),
  exploitable_locations: Type.Optional(
    Type.Array(LocationInput, {
      maxItems: MAX_LONGEST,
      description:
        'The value of an `ip` is `protocol://address:port`, or the address alone; it may be absent where its parts are given.',
    }),
  ),
  validation_steps: Type.Optional(
    Type.Array(StepInput, { maxItems: 100, description: 'They are numbered in this order.' }),
  ),
  http_requests: texts(20, MAX_TEXT, 'GET /search?q=%27 HTTP/1.1', 'Requests and answers as sent.'),
  reference_urls: texts(
    1_000,
    MAX_SHORT_TEXT,
    'https://owasp.org/Top10/A03_2021-Injection/',
    'http and https.',
  ),
  asset_uids: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, examples: ['5f0c1e2d3b4a59687786a5b4'] }), {
      maxItems: MAX_ASSETS,
      description: "Assets of the assessment's organization that you reach.",
    }),
  ),
  ...TagInputs,
};

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

const Finding = Type.Object(FINDING);

/** @returns what both say of a finding, by the names of the rules */
function findingInput(body: Static<typeof Finding>) {
  return {
    title: body.title,
    severity: body.severity,
    description: body.description,
    cvssScore: body.cvss_score,
    cvssVector: body.cvss_vector,
    impact: body.impact,
    recommendedFix: body.recommended_fix,
    category: body.category,
    cveIds: body.cve_ids,
    cweIds: body.cwe_ids,
    exploitableLocations: body.exploitable_locations,
    validationSteps: body.validation_steps,
    httpRequests: body.http_requests,
    referenceUrls: body.reference_urls,
    assetUids: body.asset_uids,
    ...tagsInput(body),
  };
}

/** How the bodies of both call the inputs of the rules. */
const INPUTS = {
  assessment: 'assessment_id',
  statusId: 'status_id',
  cvssScore: 'cvss_score',
  cvssVector: 'cvss_vector',
  recommendedFix: 'recommended_fix',
  cveIds: 'cve_ids',
  cweIds: 'cwe_ids',
  exploitableLocations: 'exploitable_locations',
  validationSteps: 'validation_steps',
  httpRequests: 'http_requests',
  referenceUrls: 'reference_urls',
  assetUids: 'asset_uids',
  assigneeId: 'assignee_id',
  dueOn: 'due_on',
  tagIds: 'tags',
  tagNames: 'tag_list',
};

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

const declareCreateVulnerability = (context: Context) =>
  operation({
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
    inputs: INPUTS,
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
      return change(async (tx) => {
        const vulnerability = await reportVulnerability(tx, act, input);
        return versioned(vulnerability.version, wholeVulnerabilityBody(vulnerability, context), {
          location: `${collection}/${vulnerability.id}`,
        });
      });
    },
  });

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
    inputs: INPUTS,
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
