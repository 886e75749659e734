import { type Static, Type } from 'typebox';
import { SEVERITIES } from '../../domain/vulnerabilities/catalogue.ts';
import { LOCATION_TYPES } from '../../domain/vulnerabilities/locations.ts';
import { nameText } from '../../http/schemas.ts';
import { TagInputs, tagsInput } from './vulnerability-tag-inputs.ts';

const MAX_TEXT = 65_536;
export const MAX_SHORT_TEXT = 2_048;
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
export const FINDING = {
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

const Finding = Type.Object(FINDING);

/** @returns what both say of a finding, by the names of the rules */
export function findingInput(body: Static<typeof Finding>) {
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
export const FINDING_INPUTS = {
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
