import { sql } from 'kysely';
import { cliChangeContext } from '../src/auth/callers.ts';
import type { Keys } from '../src/auth/keys.ts';
import type { Database, Engine } from '../src/db/database.ts';
import { issueToken } from '../src/domain/tokens/tokens.ts';
import { createUser } from '../src/domain/users/users.ts';
import { cursorAt, send } from './companions.ts';
import {
  fillOrganization,
  type LargeOrganization,
  numbersOf,
  recountVulnerabilities,
} from './large-dataset.ts';
import { type BenchmarkResult, median, progress } from './measure.ts';
import type { Server } from './processes.ts';

const SIZE = { vulnerabilities: 50_000, assets: 20_000, assessments: 2_000 };
/** Members of the large group. */
const MEMBERS = 10_000;
/** Members that one request adds or removes. */
const ADDED = 100;
/** Groups over which the last user's assessments are spread. */
const GROUPS = 100;
const REQUESTS = 100;
const WARM_UP = 10;
const CHANGES = 40;
const START = Date.UTC(2026, 0, 1);
const UID = 'roles';

/** Users who each reach 1,000 assessments with as many vulnerabilities and assets. */
const READERS = ['byName', 'byGroup', 'byGroups'] as const;
type Reader = (typeof READERS)[number];

interface ReaderAccount {
  token: string;
  vulnerabilities: number;
  /** One vulnerability and asset that they can see. */
  vulnerability: number;
  asset: string;
}

export interface RoleOrganization extends LargeOrganization {
  readers: Record<Reader, ReaderAccount>;
  /** An `rbac_group_admin` of both groups. */
  groupAdmin: { token: string };
  /** A group with 1,000 assessments, and one with 10,000 members. */
  groups: { ofAssessments: number; ofMembers: number };
}

/**
 * Adds an organization of 2,000 assessments: those with even numbers are in one group, the others in a hundred groups.
 * Inserts by SQL, as the domain's rules would take minutes.
 */
export async function fillRoles(db: Database, engine: Engine, keys: Keys): Promise<RoleOrganization> {
  const numbers = numbersOf(engine);
  const organization = await fillOrganization(db, keys, numbers, UID, SIZE);
  await db.write(recountVulnerabilities);
  const act = cliChangeContext(START);
  const { id, first } = await db.read
    .selectFrom('assessments')
    .innerJoin('organizations', 'organizations.id', 'assessments.organization_id')
    .select(({ fn }) => ['organizations.id', fn.min<number>('assessments.id').as('first')])
    .where('organizations.uid', '=', UID)
    .groupBy('organizations.id')
    .executeTakeFirstOrThrow();
  const insert = (statement: ReturnType<typeof sql>) => db.write((tx) => statement.execute(tx));
  await insert(sql`insert into users (uid, email, normalized_email, organization_id, accepted_at, created_at)
    select 'roles' || cast(n.v as text), 'roles' || cast(n.v as text) || '@roles.example',
      'roles' || cast(n.v as text) || '@roles.example', ${id}, ${START}, ${START} from ${numbers(0, MEMBERS)}`);
  await insert(sql`insert into assessment_groups (organization_id, name, created_at)
    select ${id}, 'group ' || cast(n.v as text), ${START} from ${numbers(0, GROUPS + 2)}`);
  const groups = await db.read
    .selectFrom('assessment_groups')
    .select('id')
    .where('organization_id', '=', id)
    .orderBy('id')
    .execute();
  const [ofAssessments = 0, ofMembers = 0, spread = 0] = groups.map((group) => group.id);
  await insert(sql`update assessments set group_id = case when (id - ${first}) % 2 = 0 then cast(${ofAssessments} as bigint)
    else ${spread} + ((id - ${first}) / 2) % ${GROUPS} end where organization_id = ${id}`);
  await insert(sql`insert into listing_assets (organization_id, assessment_id, asset_id)
    select distinct organization_id, assessment_id, asset_id from (
      select vulnerabilities.organization_id, assessment_id, asset_id from vulnerability_assets
      join vulnerabilities on vulnerabilities.id = vulnerability_assets.vulnerability_id
      where vulnerabilities.organization_id = ${id}) as listed`);
  const addMember = (groupIds: ReturnType<typeof sql>, userIds: ReturnType<typeof sql>, role: string) =>
    insert(sql`insert into assessment_group_members (organization_id, group_id, user_id, user_uid, role, created_at)
      select ${id}, assessment_groups.id, users.id, users.uid, ${role}, ${START} from assessment_groups, users
      where assessment_groups.id in (${groupIds}) and users.id in (${userIds})`);
  await addMember(
    sql`${ofMembers}`,
    sql`select users.id from users where uid like 'roles%' and organization_id = ${id}`,
    'assessment_member',
  );
  const createClient = async (name: string) => {
    const user = await db.write((tx) =>
      createUser(tx, act, { email: `${name}@roles.example`, organization: UID }),
    );
    const { token } = await db.write((tx) =>
      issueToken(tx, act, keys, { userId: user.id, kind: 'personal', expiresAt: null }),
    );
    return { token, userId: user.id };
  };
  const [byName, byGroup, byGroups, groupAdmin] = [
    await createClient('name'),
    await createClient('group'),
    await createClient('groups'),
    await createClient('admin-of-groups'),
  ];
  await insert(sql`insert into assessment_access (organization_id, assessment_id, user_id)
    select organization_id, id, ${byName.userId} from assessments where group_id = ${ofAssessments}`);
  await addMember(sql`${ofAssessments}`, sql`${byGroup.userId}`, 'assessment_member');
  await addMember(
    sql`select id from assessment_groups where id >= ${spread} and organization_id = ${id}`,
    sql`${byGroups.userId}`,
    'assessment_member',
  );
  await addMember(sql`${ofAssessments}, ${ofMembers}`, sql`${groupAdmin.userId}`, 'rbac_group_admin');
  await insert(sql`insert into assessment_group_member_counts (group_id, role, members)
    select group_id, role, count(*) from assessment_group_members where organization_id = ${id} group by 1, 2`);
  const assets = await db.read
    .selectFrom('assets')
    .select('uid')
    .where('organization_id', '=', id)
    .orderBy('id')
    .limit(3)
    .execute();
  /** @param number of a vulnerability and an asset in an assessment that the reader can see, and of no other reader */
  const account = (number: number, token: string): ReaderAccount => ({
    token,
    vulnerabilities: SIZE.vulnerabilities / 2,
    vulnerability: organization.firstVulnerability + number,
    asset: assets[number]?.uid ?? '',
  });
  return {
    ...organization,
    readers: {
      byName: account(0, byName.token),
      byGroup: account(2, byGroup.token),
      byGroups: account(1, byGroups.token),
    },
    groupAdmin,
    groups: { ofAssessments, ofMembers },
  };
}

const LIST = '/v1/vulnerabilities';

type Request = Parameters<typeof send>[3] & { path: string };

/** The request with this number, as a reader. */
type RequestOf = (reader: ReaderAccount, number: number) => Request;

const get = (path: string) => () => ({ path });

/** Requests that are sent as each reader in turn. The cursor of a page is found by reading the pages before it. */
const COMPARED: readonly (readonly [name: string, request: RequestOf])[] = [
  [
    'roles-op5-vulnerability',
    ({ vulnerability }, number) => ({
      path: `${LIST}/${vulnerability}`,
      method: 'PATCH',
      body: { status_id: 1 + (number % 9) },
    }),
  ],
  ['roles-op14-ports', ({ asset }) => ({ path: `/api/streaming/v1/${UID}/assets/${asset}/ports` })],
  ['roles-op15-first', get(LIST)],
  ['roles-op15-cursor', get('')],
  ['roles-op15-status', get(`${LIST}?filter[status_id][]=2`)],
  ['roles-op15-severity', get(`${LIST}?filter[severity][]=High`)],
  ['roles-op15-latest', get(`${LIST}?sort=-updated_at`)],
  ['roles-op36-assessments', get('/v1/assessments')],
  ['roles-op75-assets', get('/api/asset/v2/assets')],
  ['roles-op83-summary', get(`${LIST}/summary`)],
];
const CHANGES_OF_GROUPS = [
  'roles-op47-add',
  'roles-op13-remove',
  'roles-op38-create',
  'roles-op39-move',
] as const;

/** Names that can be given on the command line. */
export const ROLE_WORKLOADS: readonly string[] = [...COMPARED.map(([name]) => name), ...CHANGES_OF_GROUPS];

const READ_LIMIT = 1.2;

/**
 * Compares lists read by users whose access is by name, by one group and by a hundred groups, and measures changes of
 * groups.
 * @returns the rows of the report
 */
export async function measureRoles(
  engine: Engine,
  server: Server,
  organization: RoleOrganization,
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const rows: BenchmarkResult[] = [];
  for (const [name, request] of COMPARED.filter((compared) => isSelected(compared[0]))) {
    progress(`${engine}: ${name}`);
    const times = new Map<Reader, number[]>(READERS.map((reader) => [reader, []]));
    const cursors = new Map<Reader, string>();
    if (name === 'roles-op15-cursor')
      for (const reader of READERS)
        cursors.set(reader, await cursorAt(server, organization.readers[reader], 0.5));
    for (let number = 0; number < WARM_UP + REQUESTS; number += 1)
      for (const reader of READERS) {
        const account = organization.readers[reader];
        const { path, ...spec } = request(account, number);
        const { milliseconds } = await send(server, account, cursors.get(reader) ?? path, spec);
        if (number >= WARM_UP) times.get(reader)?.push(milliseconds);
      }
    const medianOf = (reader: Reader) => median(times.get(reader) ?? []);
    const base = medianOf('byName');
    for (const reader of READERS) {
      const p50 = medianOf(reader);
      rows.push({
        engine,
        workload: `${name} ${reader}`,
        p50,
        ratio: p50 / base,
        target: reader === 'byName' ? '' : `<= ${READ_LIMIT} x by name`,
        holds: p50 / base <= READ_LIMIT,
      });
    }
  }
  if (CHANGES_OF_GROUPS.some(isSelected)) rows.push(...(await measureChanges(engine, server, organization)));
  return rows;
}

/** Changes groups, and assessments in them, while another client changes single vulnerabilities. */
async function measureChanges(
  engine: Engine,
  server: Server,
  organization: RoleOrganization,
): Promise<BenchmarkResult[]> {
  const { groupAdmin, groups } = organization;
  const waits: number[] = [];
  let running = true;
  const otherWrites = (async () => {
    for (let number = 0; running; number += 1) {
      const path = `${LIST}/${organization.firstVulnerability + (number % 1_000)}`;
      const { milliseconds } = await send(server, organization, path, {
        method: 'PATCH',
        body: { status_id: 1 + (number % 9) },
      });
      waits.push(milliseconds);
    }
  })();
  const members = Array.from({ length: ADDED }, (_, number) => `roles${number}`);
  const path = `/api/assessment/v1/assessment-groups/${groups.ofAssessments}/members`;
  const requests: Record<(typeof CHANGES_OF_GROUPS)[number], (number: number) => Parameters<typeof send>> = {
    'roles-op47-add': () => [
      server,
      groupAdmin,
      `${path}/batchAdd`,
      {
        method: 'POST',
        body: { members: members.map((userUid) => ({ userUid, role: 'assessment_member' })) },
      },
    ],
    'roles-op13-remove': () => [
      server,
      groupAdmin,
      `${path}/batchRemove`,
      { method: 'POST', body: { userUids: members } },
    ],
    'roles-op38-create': (number) => [
      server,
      groupAdmin,
      '/v1/assessments',
      { method: 'POST', body: { name: `Created ${number}`, assessment_group_id: groups.ofMembers } },
    ],
    'roles-op39-move': (number) => [
      server,
      groupAdmin,
      `/v1/assessments/${organization.uid}-0`,
      {
        method: 'PATCH',
        body: { assessment_group_id: number % 2 === 0 ? groups.ofMembers : groups.ofAssessments },
      },
    ],
  };
  const times = new Map<string, number[]>(CHANGES_OF_GROUPS.map((name) => [name, []]));
  for (let number = 0; number < CHANGES; number += 1)
    for (const name of CHANGES_OF_GROUPS)
      times.get(name)?.push((await send(...requests[name](number))).milliseconds);
  running = false;
  await otherWrites;
  waits.sort((one, other) => one - other);
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? 0;
  return [
    ...CHANGES_OF_GROUPS.map((workload): BenchmarkResult => {
      const list = times.get(workload) ?? [];
      const slowest = Math.max(...list);
      return {
        engine,
        workload: `${workload} (p99 is the slowest)`,
        p50: median(list),
        p99: slowest,
        ratio: slowest / 1_000,
        target: '<= 1,000 ms',
        holds: slowest <= 1_000,
      };
    }),
    {
      engine,
      workload: "roles, others' writes",
      p50: median(waits),
      p99,
      ratio: p99 / 250,
      target: 'p99 <= 250 ms',
      holds: p99 <= 250,
    },
  ];
}
