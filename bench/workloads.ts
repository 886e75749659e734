/** The ids and credentials that requests use. */
export interface Dataset {
  organization: string;
  assessment: string;
  /** Ids of groups by number of members. */
  groups: Record<string, number>;
  /** Uids of hosts by number of ports. */
  hosts: Record<string, string>;
  vulnerabilities: number[];
  vulnerabilityTags: number[];
  assetTags: string[];
  assets: string[];
  /** Members of the group that operation 13 empties, in order. */
  removable: string[];
  removableGroup: number;
  /** A client that acts as the admin. */
  client: { id: string; secret: string };
  /** Users who can sign in. */
  people: { email: string; password: string }[];
}

export type WorkloadName = keyof typeof WORKLOADS;

interface Request {
  method: string;
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent form-encoded. */
  form?: string;
  /** Replaces the bearer token. */
  authorization?: string;
}

const SMALL = '60';
const LARGE = '60000';
const STATUSES = 9;

const members =
  (size: string, query: string) =>
  (data: Dataset): Request => ({
    method: 'GET',
    path: `/api/assessment/v1/assessment-groups/${data.groups[size]}/members?${query}`,
  });
const ports =
  (size: string, query: string) =>
  (data: Dataset): Request => ({
    method: 'GET',
    path: `/api/streaming/v1/${data.organization}/assets/${data.hosts[size]}/ports?${query}`,
  });

/** Builds the request of each workload with this number. The same number always builds the same request. */
const WORKLOADS = {
  'op12-members': members(SMALL, 'perPage=50'),
  'op12-small-first': members(SMALL, 'perPage=30'),
  'op12-small-last': members(SMALL, 'perPage=30&page=2'),
  'op12-large-first': members(LARGE, 'perPage=30'),
  'op12-large-last': members(LARGE, 'perPage=30&page=2000'),
  'op14-ports': ports(SMALL, 'per_page=50'),
  'op14-small-first': ports(SMALL, 'per_page=30'),
  'op14-small-last': ports(SMALL, 'per_page=30&page=2'),
  'op14-large-first': ports(LARGE, 'per_page=30'),
  'op14-large-last': ports(LARGE, 'per_page=30&page=2000'),
  'op5-vulnerability': (data: Dataset, number: number): Request => ({
    method: 'PATCH',
    path: `/v1/vulnerabilities/${pick(data.vulnerabilities, number * 7)}`,
    body: {
      status_id: 1 + (number % STATUSES),
      tags: [pick(data.vulnerabilityTags, number), pick(data.vulnerabilityTags, number + 1)],
    },
  }),
  // All in one assessment.
  'op18-create': (data: Dataset, number: number): Request => ({
    method: 'POST',
    path: '/v1/vulnerabilities',
    body: {
      assessment_id: data.assessment,
      title: `Reflected input ${number}`,
      severity: 'High',
      description: 'Reflected input in the search form of the shop.',
    },
  }),
  'op25-comment': (data: Dataset, number: number): Request => ({
    method: 'POST',
    path: `/v1/vulnerabilities/${pick(data.vulnerabilities, number * 7)}/comments`,
    body: { text: `Seen again in build ${number} of the shop.` },
  }),
  // Each vulnerability can have one request at a time.
  'op28-retest': (data: Dataset, number: number): Request => ({
    method: 'POST',
    path: `/v1/vulnerabilities/${data.vulnerabilities[number]}/patch_verifications`,
    body: { message: 'The parameter is encoded now.' },
  }),
  // Attaches a tag that no earlier request attached, and detaches the one that the last request with the same tag
  // attached.
  'op9-tagging': (data: Dataset, number: number): Request => ({
    method: 'PATCH',
    path: `/api/tagging/v1.0/organizations/${data.organization}/tags`,
    body: {
      uids: [pick(data.assetTags, number)],
      addEntities: [{ uid: pick(data.assets, number) }],
      delEntityUids: [pick(data.assets, number - data.assetTags.length)],
    },
  }),
  'op13-removal': (data: Dataset, number: number): Request => ({
    method: 'POST',
    path: `/api/assessment/v1/assessment-groups/${data.removableGroup}/members/batchRemove`,
    body: { userUids: [data.removable[number]] },
  }),
  'op10-criticality': (data: Dataset, number: number): Request => ({
    method: 'POST',
    path: '/api/asset/v2/bulk/assets/criticality:update',
    body: {
      organizationUid: data.organization,
      criticality: number % 2 === 0 ? 'high' : 'low',
      assetUids: data.assets.slice(0, 10_000),
    },
  }),
  'oauth-token': ({ client }: Dataset): Request => ({
    method: 'POST',
    path: '/oauth/token',
    form: 'grant_type=client_credentials&scope=api',
    authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
  }),
} satisfies Record<string, (data: Dataset, number: number) => Request>;

/**
 * @param token the credential, or several that the requests use in turn
 * @returns the bytes of the request
 */
export function buildRequest(
  workload: WorkloadName,
  data: Dataset,
  number: number,
  token: string | readonly string[],
): Buffer {
  const build: (data: Dataset, number: number) => Request = WORKLOADS[workload];
  const { method, path, body, form, authorization } = build(data, number);
  const content = form ?? (body === undefined ? '' : JSON.stringify(body));
  const bearer = `Bearer ${typeof token === 'string' ? token : pick(token, number)}`;
  const headers =
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization ?? bearer}\r\n` +
    (content === ''
      ? ''
      : `Content-Type: application/${form === undefined ? 'json' : 'x-www-form-urlencoded'}\r\n` +
        `Content-Length: ${Buffer.byteLength(content)}\r\n`);
  return Buffer.from(`${headers}\r\n${content}`);
}

function pick<T>(list: readonly T[], number: number): T {
  return list[(number + list.length) % list.length] as T;
}
