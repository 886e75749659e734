import { cliChangeContext } from '../src/auth/callers.ts';
import { hashPassword } from '../src/auth/passwords.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import type { Database, Transaction } from '../src/db/database.ts';
import type { Tables } from '../src/db/schema.ts';
import { GROUP_ROLES } from '../src/auth/roles.ts';
import { createOAuthClient } from '../src/domain/tokens/oauth-clients.ts';
import { issueToken } from '../src/domain/tokens/tokens.ts';
import { createUser } from '../src/domain/users/users.ts';
import { createOrganization } from '../src/domain/users/staff-organizations.ts';
import type { Dataset } from './workloads.ts';

const USERS = 60_000;
const ASSETS = 10_000;
const VULNERABILITIES = 2_000;
const SIZES = [60, 60_000];
const CHUNK = 500;
const PEOPLE = 8;
const START = Date.UTC(2026, 0, 1);
const ACT = cliChangeContext(START);

/** Fills an empty database. Returns the ids and credentials that the workloads use. */
export async function fillDatabase(
  db: Database,
  dataDirectory: string,
  issuer: string,
): Promise<{ dataset: Dataset; token: string }> {
  const organization = 'bench';
  const { id: organizationId } = await db.write((tx) =>
    createOrganization(tx, ACT, { uid: organization, name: 'Bench' }),
  );
  const { token, client, people } = await createCredentials(db, dataDirectory, issuer, organization);
  const { uids, groups, removableGroup } = await fillMembers(db, organizationId);
  await fillAssets(db, organizationId);
  await fillVulnerabilities(db, organizationId, groups[60] ?? null);
  const assetTags = await fillTags(db, organizationId);
  const ids = async (table: 'vulnerabilities' | 'vulnerability_tags') =>
    (await db.read.selectFrom(table).select('id').orderBy('id').execute()).map((row) => row.id);
  const dataset: Dataset = {
    organization,
    assessment: 'bench',
    groups,
    hosts: Object.fromEntries(SIZES.map((size) => [size, hostUid(size)])),
    vulnerabilities: await ids('vulnerabilities'),
    vulnerabilityTags: await ids('vulnerability_tags'),
    assetTags,
    assets: range(ASSETS).map(assetUid),
    removable: uids,
    removableGroup,
    client,
    people,
  };
  return { dataset, token };
}

/** Creates an admin with a token and an OAuth client, and people with passwords. */
async function createCredentials(db: Database, dataDirectory: string, issuer: string, organization: string) {
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory, createsMasterKey: true },
    { current: () => issuer, accepts: (name) => name === issuer },
  );
  const admin = await db.write((tx) =>
    createUser(tx, ACT, { email: 'admin@bench.example', organization, admin: true }),
  );
  const { token } = await db.write((tx) =>
    issueToken(tx, ACT, keys, { userId: admin.id, kind: 'personal', expiresAt: null }),
  );
  const client = await db.write((tx) =>
    createOAuthClient(tx, ACT, {
      name: 'Bench',
      kind: 'confidential',
      redirectUris: [],
      implicit: false,
      userId: admin.id,
    }),
  );
  const people = await Promise.all(
    range(PEOPLE).map(async (number) => {
      const email = `person${number}@bench.example`;
      const password = `bench ${number} bench`;
      const passwordHash = await hashPassword(password);
      await db.write((tx) => createUser(tx, ACT, { email, organization, passwordHash }));
      return { email, password };
    }),
  );
  return { token, client: { id: client.id, secret: client.secret ?? '' }, people };
}

/** Inserts users and the groups that they are members of. */
async function fillMembers(db: Database, organizationId: number) {
  const uids = range(USERS).map((number) => `member${number}`);
  await insert(
    db,
    'users',
    uids.map((uid, number) => ({
      uid,
      email: `${uid}@bench.example`,
      normalized_email: `${uid}@bench.example`,
      name: `Member ${number}`,
      organization_id: organizationId,
      accepted_at: START,
      created_at: START,
    })),
  );

  const members = await db.read
    .selectFrom('users')
    .select(['id', 'uid'])
    .where('uid', 'like', 'member%')
    .orderBy('id')
    .execute();
  const groups: Record<string, number> = {};
  for (const size of SIZES) groups[size] = await fillGroup(db, organizationId, members.slice(0, size));
  const removableGroup = await fillGroup(db, organizationId, members);
  return { uids, groups, removableGroup };
}

const assetUid = (number: number) => number.toString(16).padStart(24, '0');
const hostUid = (size: number) => `ffff${size.toString(16).padStart(20, '0')}`;

/** Inserts web applications, and a host per size with as many ports. */
async function fillAssets(db: Database, organizationId: number): Promise<void> {
  await insert(
    db,
    'assets',
    [
      ...range(ASSETS).map((number) => ({
        uid: assetUid(number),
        type: 'webapp',
        name: `Asset ${number}`,
        location: `https://asset-${number}.example/`,
      })),
      ...SIZES.map((size) => ({
        uid: hostUid(size),
        type: 'host',
        name: `Host ${size}`,
        // No generated report has this address.
        location: `192.0.2.${size % 256}`,
      })),
    ].map((asset) => ({ ...asset, organization_id: organizationId, created_at: START, updated_at: START })),
  );
  for (const size of SIZES) await fillHost(db, hostUid(size), size);
}

async function fillVulnerabilities(
  db: Database,
  organizationId: number,
  groupId: number | null,
): Promise<void> {
  const assessmentId = await insertOne(db, 'assessments', {
    uid: 'bench',
    organization_id: organizationId,
    group_id: groupId,
    name: 'Bench',
    created_at: START,
  });
  await insert(
    db,
    'vulnerabilities',
    range(VULNERABILITIES).map((number) => ({
      organization_id: organizationId,
      assessment_id: assessmentId,
      title: `Finding ${number}`,
      description: 'Reflected input in the search form of the shop.',
      severity: 'High',
      status_id: 1,
      status_set_at: START,
      cvss_score: 7.5,
      created_at: START,
      updated_at: START,
      first_seen_at: START,
    })),
  );
}

/** @returns the uids of the tags of assets */
async function fillTags(db: Database, organizationId: number): Promise<string[]> {
  const tagNames = (count: number) =>
    range(count).map((number) => ({
      organization_id: organizationId,
      name: `tag ${number}`,
      normalized_name: `tag ${number}`,
    }));
  await insert(db, 'vulnerability_tags', tagNames(10));
  const assetTags = range(100).map((number) => number.toString(16).padStart(12, '0'));
  await insert(
    db,
    'asset_tags',
    tagNames(100).map((tag, number) => ({ ...tag, uid: assetTags[number] as string })),
  );
  return assetTags;
}

async function fillGroup(
  db: Database,
  organizationId: number,
  users: readonly { id: number; uid: string }[],
): Promise<number> {
  const groupId = await insertOne(db, 'assessment_groups', {
    organization_id: organizationId,
    name: `Group of ${users.length}`,
    created_at: START,
  });
  const members = users.map((user, number) => ({
    organization_id: organizationId,
    group_id: groupId,
    user_id: user.id,
    user_uid: user.uid,
    role: GROUP_ROLES[number % GROUP_ROLES.length] as string,
    created_at: START + number * 1_000,
  }));
  await insert(db, 'assessment_group_members', members);
  await insert(
    db,
    'assessment_group_member_counts',
    GROUP_ROLES.map((role) => ({
      group_id: groupId,
      role,
      members: members.filter((member) => member.role === role).length,
    })),
  );
  return groupId;
}

async function fillHost(db: Database, uid: string, ports: number): Promise<void> {
  const { id } = await db.read
    .selectFrom('assets')
    .select('id')
    .where('uid', '=', uid)
    .executeTakeFirstOrThrow();
  await insert(
    db,
    'ports',
    range(ports).map((number) => ({
      asset_id: id,
      protocol: 'tcp',
      number,
      observed_state: 'open',
      service_name: 'http',
      service_banner: 'nginx 1.25.3',
      product_name: 'nginx',
      product_version: '1.25.3',
      cpe: 'cpe:/a:igor_sysoev:nginx:1.25.3',
      first_seen: START,
      last_seen: START,
    })),
  );
  await insert(db, 'port_counts', [{ asset_id: id, observed_state: 'open', ports }]);
}

type Row = Record<string, string | number | null>;

async function insert(db: Database, table: keyof Tables, rows: readonly Row[]): Promise<void> {
  for (let start = 0; start < rows.length; start += CHUNK) {
    const chunk = rows.slice(start, start + CHUNK);
    await db.write((tx) => values(tx, table, chunk).execute());
  }
}

async function insertOne(db: Database, table: keyof Tables, row: Row): Promise<number> {
  const inserted = await db.write((tx) =>
    values(tx, table, [row])
      // Every table that this is called for has an id.
      .returning('id' as never)
      .executeTakeFirstOrThrow(),
  );
  return (inserted as { id: number }).id;
}

/** The table is a variable, so the compiler cannot check the columns; the database does. */
function values(tx: Transaction, table: keyof Tables, rows: readonly Row[]) {
  return tx.insertInto(table).values(rows as never);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}
