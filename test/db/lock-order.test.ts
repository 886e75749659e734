import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { engine, serve, type TestServer } from '../harness/server.ts';

const ROUNDS = 12;
/** Objects that a round deletes while other requests use them. */
const OBJECTS_PER_ROUND = 3;

interface World {
  make: ReturnType<typeof createFixtures>;
  server: TestServer;
  organization: string;
  admin: TestUser;
  /** An assessment. */
  home: string;
  /** A name that no other object has. */
  name: string;
  /** Alternates from one object to the next. */
  isOdd: boolean;
}

type Request = readonly [method: string, path: string, body?: object];
interface Case {
  deletes: Request;
  /** Requests, or a report of findings to import. */
  uses: (Request | string)[];
}

const ASSETS = '/api/asset/v2/assets';
const tagsOf = ({ organization }: World) => `/api/tagging/v1.0/organizations/${organization}/tags`;
const makeAsset = async ({ make, organization }: World) => (await make.asset({ organization })).uid;
const makeUser = ({ make, organization }: World) => make.user({ organization });
const makeAssessment = async ({ make, organization }: World, group?: number) =>
  (await make.assessment(organization, undefined, group)).uid;
const makeVulnerability = async ({ make, home }: World) => (await make.vulnerability(home)).id;
const NEW = { title: 'New', severity: 'High' };
const PUT = { title: 'Other', severity: 'Low', status_id: 4 };
const bulk = (ids: number[], set: object): Request => [
  'POST',
  '/v1/vulnerabilities/bulk_update',
  { ids, set },
];
const hour = (number: number) => new Date(Date.UTC(2026, 10, 1, number)).toISOString();

const CASES: Record<string, (fixtures: World) => Promise<Case>> = {
  async 'an asset, and vulnerabilities that are created on it'(fixtures) {
    const uid = await makeAsset(fixtures);
    const body = { ...NEW, assessment_id: fixtures.home, asset_uids: [uid] };
    const create: Request = ['POST', '/v1/vulnerabilities', body];
    return { deletes: ['DELETE', `${ASSETS}/${uid}`], uses: [create, create] };
  },
  async 'an asset, and vulnerabilities that get and lose it'(fixtures) {
    const [uid, id] = [await makeAsset(fixtures), await makeVulnerability(fixtures)];
    const path = `/v1/vulnerabilities/${id}`;
    const replacement = { ...PUT, assessment_id: fixtures.home };
    return {
      deletes: ['DELETE', `${ASSETS}/${uid}`],
      uses: [
        ['PUT', path, { ...replacement, asset_uids: [uid] }],
        ['PUT', path, replacement],
        ['PUT', path, { ...replacement, asset_uids: [uid] }],
        ['PATCH', path, { status_id: 5 }],
      ],
    };
  },
  async 'an asset, and changes of it'(fixtures) {
    const uid = await makeAsset(fixtures);
    return {
      deletes: ['DELETE', `${ASSETS}/${uid}`],
      uses: [
        ['PATCH', `${ASSETS}/${uid}`, { name: 'One' }],
        ['PATCH', `${ASSETS}/${uid}`, { name: 'Other' }],
        [
          'POST',
          '/api/asset/v2/bulk/assets/criticality:update',
          { organizationUid: fixtures.organization, criticality: 'high', assetUids: [uid] },
        ],
      ],
    };
  },
  async 'an asset, and its tags'(fixtures) {
    const [uid, otherUid] = [await makeAsset(fixtures), await makeAsset(fixtures)];
    const { token } = fixtures.admin;
    const body = { tags: [{ name: fixtures.name }] };
    const created = await fixtures.server.request('POST', tagsOf(fixtures), { token, body });
    const tag = created.body.tags[0].uid as string;
    const otherTag = { name: `another ${fixtures.name}`, entities: [{ uid }, { uid: otherUid }] };
    return {
      deletes: ['DELETE', `${ASSETS}/${uid}`],
      uses: [
        ['PATCH', tagsOf(fixtures), { uids: [tag], addEntities: [{ uid }, { uid: otherUid }] }],
        ['PATCH', tagsOf(fixtures), { uids: [tag], delEntityUids: [uid, otherUid] }],
        ['POST', tagsOf(fixtures), { tags: [otherTag] }],
        ['DELETE', tagsOf(fixtures), { uids: [tag] }],
      ],
    };
  },
  async 'an asset, and listings'(fixtures) {
    const [uid, otherUid] = [await makeAsset(fixtures), await makeAsset(fixtures)];
    const path = `/api/asset/v2/listings/${fixtures.home}/assets`;
    return {
      deletes: ['DELETE', `${ASSETS}/${uid}`],
      uses: [
        ['PATCH', path, { add: [{ assetUid: uid }, { assetUid: otherUid }] }],
        ['PATCH', path, { remove: [uid, otherUid] }],
        ['PATCH', path, { add: [{ assetUid: uid, scopeRules: [{ rule: 'all' }] }] }],
      ],
    };
  },
  async 'an asset, and reports about it'({ make, organization, home, name, isOdd }) {
    const location = `https://${name}.example/`;
    const { uid } = await make.asset({ organization, location });
    const { id } = await make.vulnerability(home, { assetUids: [uid] });
    const severity = isOdd ? 'High' : 'Low';
    // The first finding is known from the report before.
    const report = `title,severity,url\nKnown,${severity},https://known.example/\n${name},High,${location}\n`;
    return {
      deletes: ['DELETE', `${ASSETS}/${uid}`],
      uses: [report, bulk([id], { status_id: 4 }), bulk([id], { status_id: 6 })],
    };
  },
  async 'a group, its members and its assessments'(fixtures) {
    const { id } = await fixtures.make.group(fixtures.organization);
    const [first, second] = [await makeUser(fixtures), await makeUser(fixtures)];
    const uid = await makeAssessment(fixtures);
    const members = `/api/assessment/v1/assessment-groups/${id}/members`;
    const add = (...users: TestUser[]) => ({
      members: users.map((user) => ({ userUid: user.uid, role: 'assessment_member' })),
    });
    return {
      deletes: ['DELETE', `/v1/assessment_groups/${id}`],
      uses: [
        ['POST', `${members}/batchAdd`, add(first, second)],
        ['POST', `${members}/batchAdd`, add(second, first)],
        ['POST', `${members}/batchRemove`, { userUids: [first.uid, second.uid] }],
        ['PATCH', `/v1/assessment_groups/${id}`, { name: 'Renamed' }],
        ['PATCH', `/v1/assessments/${uid}`, { assessment_group_id: id }],
        ['POST', '/v1/assessments', { name: 'New', assessment_group_id: id }],
      ],
    };
  },
  async 'an assessment, and everything that comes into it'(fixtures) {
    const assessment_id = await makeAssessment(fixtures);
    const path = `/v1/assessments/${assessment_id}`;
    const [user, assetUid, id] = [
      await makeUser(fixtures),
      await makeAsset(fixtures),
      await makeVulnerability(fixtures),
    ];
    const contents: Request[] = [
      ['POST', '/v1/vulnerabilities', { ...NEW, assessment_id }],
      ['PUT', `/v1/vulnerabilities/${id}`, { ...PUT, assessment_id }],
      ['POST', `${path}/testing_sessions`, {}],
      ['POST', `${path}/testing_sessions`, { started_at: hour(1), ended_at: hour(2) }],
    ];
    return {
      deletes: ['DELETE', path],
      uses: [
        ['PATCH', path, { name: 'Renamed', tag_list: [fixtures.name] }],
        ['PATCH', `${path}/users`, { add: [user.id] }],
        ['PATCH', `/api/asset/v2/listings/${assessment_id}/assets`, { add: [{ assetUid }] }],
        ['POST', '/v1/assessment_tags', { name: fixtures.name, assessment_id }],
        // Nothing deletes an assessment with contents.
        ...(fixtures.isOdd ? contents : []),
      ],
    };
  },
  async 'a vulnerability, and what is said and done about it'(fixtures) {
    const uid = await makeAsset(fixtures);
    const { id } = await fixtures.make.vulnerability(fixtures.home, { assetUids: [uid] });
    const otherId = await makeVulnerability(fixtures);
    const path = `/v1/vulnerabilities/${id}`;
    return {
      deletes: ['DELETE', path],
      uses: [
        ['POST', `${path}/comments`, { text: 'A comment' }],
        ['PATCH', path, { status_id: 5, tag_list: ['one', 'other'] }],
        ['POST', `${path}/patch_verifications`, { message: 'Fixed' }],
        bulk([otherId, id], { status_id: 6, add_tags: ['other', 'one'] }),
        bulk([id, otherId], { status_id: 4, remove_tags: ['one'] }),
        ['DELETE', `${ASSETS}/${uid}`],
      ],
    };
  },
  async 'a tag, and vulnerabilities that get it'(fixtures) {
    const { name } = fixtures;
    const { id: tag } = await fixtures.make.vulnerabilityTag(fixtures.organization, name);
    const [id, otherId] = [await makeVulnerability(fixtures), await makeVulnerability(fixtures)];
    return {
      deletes: ['DELETE', `/v1/vulnerability_tags/${tag}`],
      uses: [
        ['PATCH', `/v1/vulnerabilities/${id}`, { tags: [tag] }],
        ['PATCH', `/v1/vulnerabilities/${otherId}`, { tag_list: [name, 'one'] }],
        ['PATCH', `/v1/vulnerabilities/${id}`, { tags: [] }],
        ['PUT', `/v1/vulnerability_tags/${tag}`, { name: `${name} renamed` }],
        bulk([otherId, id], { add_tags: [name] }),
      ],
    };
  },
  async 'a tag, and assessments that get it'(fixtures) {
    const { name } = fixtures;
    const [first, second] = [await makeAssessment(fixtures), await makeAssessment(fixtures)];
    const tag = await fixtures.make.assessmentTag(first, name);
    return {
      deletes: ['DELETE', `/v1/assessment_tags/${tag.id}`],
      uses: [
        ['PATCH', `/v1/assessments/${first}`, { tags: [tag.id] }],
        ['PATCH', `/v1/assessments/${second}`, { tag_list: [name, 'one'] }],
        ['PATCH', `/v1/assessments/${first}`, { tags: [] }],
        ['POST', '/v1/assessment_tags', { name, assessment_id: second }],
        ['PUT', `/v1/assessment_tags/${tag.id}`, { name: `${name} renamed` }],
      ],
    };
  },
  async 'an invited user, and what they are given'(fixtures) {
    const { id, uid } = await fixtures.make.invited({ organization: fixtures.organization });
    const group = await fixtures.make.group(fixtures.organization);
    const assessment = await makeAssessment(fixtures, group.id);
    const vulnerability = await fixtures.make.vulnerability(assessment);
    const members = `/api/assessment/v1/assessment-groups/${group.id}/members`;
    return {
      deletes: ['DELETE', `/v1/users/${id}`],
      uses: [
        ['PATCH', `/v1/assessments/${assessment}/users`, { add: [id] }],
        ['POST', `${members}/batchAdd`, { members: [{ userUid: uid, role: 'assessment_member' }] }],
        ['PUT', `/v1/users/${id}`, { name: 'Renamed' }],
        ['PUT', `/v1/users/${id}`, { assessments: [assessment], admin: true }],
        ['PATCH', `/v1/assessments/${assessment}/users`, { remove: [id] }],
        ['POST', `${members}/batchRemove`, { userUids: [uid] }],
        // Nothing deletes a user with an assigned vulnerability.
        ...(fixtures.isOdd
          ? [['PATCH', `/v1/vulnerabilities/${vulnerability.id}`, { assignee_id: id }] as const]
          : []),
      ],
    };
  },
};

describe.runIf(engine() === 'postgres')('No two transactions deadlock: requests delete', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it.each(Object.entries(CASES))('%s', async (_title, prepare) => {
    const before = await countDeadlocks(database);
    // Its own server, because PostgreSQL counts the deadlocks of a connection when it closes.
    const server = await serve({ ...database, drop: async () => undefined });
    try {
      const make = createFixtures(server);
      const organization = (await make.organization()).uid;
      const admin = await make.user({ organization, admin: true });
      const home = (await make.assessment(organization)).uid;
      const { token } = admin;
      // Nothing deletes an asset that an active assessment lists.
      await server.request('PATCH', `/v1/assessments/${home}`, { token, body: { state: 'completed' } });
      const send = async (use: Request | string): Promise<number> => {
        if (typeof use === 'string') {
          const { body } = await uploadReport(server, token, use, { assessment_id: home, format: 'csv' });
          return (await waitForImport(server, token, body.id)).state === 'succeeded' ? 200 : 500;
        }
        const [method, path, body] = use;
        return (await server.request(method, path, { token, ...(body && { body }) })).status;
      };
      let count = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const requests: (Request | string)[] = [];
        for (let object = 0; object < OBJECTS_PER_ROUND; object += 1) {
          count += 1;
          const name = `object-${organization}-${count}`;
          const fixtures = { make, server, organization, admin, home, name, isOdd: count % 2 === 1 };
          const { deletes, uses } = await prepare(fixtures);
          requests.push(...uses.toSpliced(round % (uses.length + 1), 0, deletes));
        }
        const statuses = await Promise.all(requests.map(send));
        expect(statuses.filter((status) => status >= 500 || status === 400)).toEqual([]);
      }
    } finally {
      await server.close();
    }
    expect((await countDeadlocks(database)) - before).toBe(0);
  });
});

/** @returns the number of deadlocks in the database, once all other connections are closed */
async function countDeadlocks({ databaseUrl }: TestDatabase): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await expect
      .poll(async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and backend_type = 'client backend'`,
        );
        return rows.length;
      })
      .toBe(0);
    const { rows } = await client.query<{ deadlocks: number }>(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.deadlocks ?? 0;
  } finally {
    await client.end();
  }
}
