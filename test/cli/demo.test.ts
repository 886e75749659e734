import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { createTestDatabase } from '../harness/database.ts';
import { engine, send } from '../harness/server.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine('demo');
afterAll(() => assay.close());

const account = (domain: string) => ({
  id: expect.any(Number),
  uid: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
  email: expect.stringContaining(domain),
  password: expect.stringMatching(/^\S{16,}$/),
  token: expect.stringMatching(/^assay_[0-9A-Za-z]{42}$/),
});
const withoutSecrets = ({ password: _password, token: _token, ...user }: ReturnType<typeof account>) => user;
const assetUid = expect.stringMatching(/^[0-9a-f]{24}$/);
const organization = (domain: string) => ({
  organization: { uid: expect.stringMatching(/^[0-9a-z]{1,50}$/), id: expect.any(Number) },
  users: {
    admin: account(domain),
    member: account(domain),
    outsider: account(domain),
    invited: withoutSecrets(account(domain)),
    spare: account(domain),
  },
  assessment: { uid: expect.stringMatching(/^[-_0-9a-z]{1,50}$/) },
  group: { id: expect.any(Number) },
  vulnerability: { id: expect.any(Number) },
  vulnerabilityTags: { editable: expect.any(Number), fixed: expect.any(Number) },
  assessmentTag: { id: expect.any(Number) },
  assetTag: { uid: expect.stringMatching(/^[0-9a-f]{12}$/) },
  assets: { host: assetUid, webapp: assetUid, clientOnly: assetUid, bossOnly: assetUid },
});
const EXPECTED = {
  ...organization('@acme.example'),
  users: { ...organization('@acme.example').users, staff: account('@assay.example') },
  other: organization('@halden.example'),
  oauthClients: {
    implicit: {
      client_id: 'assay-docs',
      redirect_uri: 'http://127.0.0.1:8080/docs/oauth2-redirect.html',
    },
    confidential: {
      client_id: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
      client_secret: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
    },
  },
};

describe('assay demo', () => {
  let manifest: DemoManifest;
  let file: string;
  beforeEach(async () => {
    manifest = await assay.json('demo');
    file = join(assay.database.dataDirectory, 'demo.json');
  });

  it('writes the manifest, readable only by its owner, and prints it', () => {
    expect(manifest).toEqual(EXPECTED);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(manifest);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('changes nothing the second time', async () => {
    const before = await countEverything();
    expect(await assay.json('demo')).toEqual(manifest);
    expect(await countEverything()).toEqual(before);
    const { stdout } = await assay.run(['demo']);
    expect(stdout).toContain('nothing was changed');
    for (const { email, token } of [manifest.users.admin, manifest.users.staff]) {
      expect(stdout).toMatch(new RegExp(`${email}.* ${token}$`, 'm'));
    }
  });

  it('creates enough data for pages, filters and sort orders', async () => {
    const counts = await countEverything();
    expect(counts).toMatchObject({ organizations: 2, assets: 500, vulnerabilities: expect.any(Number) });
    const db = await open();
    try {
      const { rows: ports } = await query<{ state: string; ports: number }>(
        db,
        `select observed_state as state, ports from port_counts
         where asset_id = (select id from assets where uid = '${manifest.assets.host}')`,
      );
      const portsOf = (requested: string) => ports.find(({ state }) => state === requested)?.ports ?? 0;
      expect(portsOf('open')).toBeGreaterThanOrEqual(40);
      expect(portsOf('closed')).toBeGreaterThanOrEqual(5);

      const { rows: roles } = await query<{ role: string; members: number }>(
        db,
        `select role, count(*) as members from assessment_group_members where group_id = ${manifest.group.id} group by role`,
      );
      expect(roles).toHaveLength(6);
      expect(roles.reduce((sum, { members }) => sum + members, 0)).toBeGreaterThanOrEqual(60);

      const inAssessment = `select id from assessments where uid = '${manifest.assessment.uid}'`;
      const { rows: totals } = await query<Record<string, number>>(
        db,
        `select count(*) as all_of_them, count(distinct severity) as severities, count(distinct status_id) as statuses,
           count(cvss_score) as scored, count(case when draft = 1 then 1 end) as drafts from vulnerabilities where assessment_id = (${inAssessment})`,
      );
      expect(totals[0]).toMatchObject({ all_of_them: 200, severities: 5, statuses: 9 });
      expect(totals[0]?.['scored']).toBeLessThan(200);
      expect(totals[0]?.['drafts']).toBeGreaterThan(2);
      const { rows: testers } = await query(
        db,
        `select distinct tester_id from testing_sessions where assessment_id = (${inAssessment})`,
      );
      expect(testers).toHaveLength(2);
      const { rows: notes } = await query(db, 'select distinct note from testing_sessions');
      expect(notes.length).toBeGreaterThan(4);
      const { rows: groups } = await query<{ groups: number }>(
        db,
        'select count(*) as groups from assessment_groups group by organization_id order by 1',
      );
      expect(groups.map((row) => row.groups)).toEqual([2, 3]);
      const { rows: banned } = await query(
        db,
        'select organization_id from users where banned_at is not null',
      );
      expect(banned).toHaveLength(2);
      const { rows: retests } = await query<{ status: string }>(db, 'select distinct status from retests');
      expect(retests.map(({ status }) => status).toSorted()).toEqual([
        'blocked',
        'cancelled',
        'failed',
        'requested',
        'verified',
      ]);
      const { rows: comments } = await query(db, 'select internal, count(*) from comments group by internal');
      expect(comments).toHaveLength(2);
      const { rows: running } = await query(db, 'select id from testing_sessions where ended_at is null');
      expect(running).toHaveLength(2);
      const { rows: unlike } = await query(
        db,
        'select title from vulnerabilities group by assessment_id, title having count(*) > 1',
      );
      expect(unlike).toEqual([]);
      const { rows: open } = await query<{ title: string; description: string }>(
        db,
        `select title, description from vulnerabilities where title || description || impact || recommended_fix
           || validation_steps || http_requests like '%{target}%' or title like '%{%}%'`,
      );
      expect(open).toEqual([]);
      const { rows: files } = await query<{ content_type: string }>(
        db,
        'select distinct content_type from attachments',
      );
      expect(files.map((row) => row.content_type).toSorted()).toEqual([
        'application/pdf',
        'image/png',
        'text/plain',
      ]);
      const { rows: unkept } = await query(
        db,
        'select key from blobs where key not in (select blob_key from files)',
      );
      expect(unkept).toEqual([]);
      const { rows: future } = await query(
        db,
        `select id from timeline_entries where at > ${Date.now()}
         union all select id from retests where decided_at < created_at`,
      );
      expect(future).toEqual([]);
      const { rows: types } = await query(db, 'select distinct type from assets');
      expect(types).toHaveLength(5);
      const { rows: writers } = await query<{ uid: string; writable_by: string }>(
        db,
        'select uid, writable_by from assets',
      );
      const writerOf = (uid: string) => writers.find((asset) => asset.uid === uid)?.writable_by;
      for (const { assets } of [manifest, manifest.other]) {
        expect(writerOf(assets.clientOnly)).toBe('client');
        expect(writerOf(assets.bossOnly)).toBe('boss');
        expect(writerOf(assets.host)).toBe('any');
      }
      const { rows: admins } = await query(
        db,
        'select organization_id, count(*) as admins from users where admin = 1 and staff = 0 group by organization_id',
      );
      expect(admins.map((row) => (row as { admins: number }).admins)).toEqual([1, 1]);
    } finally {
      await db.close();
    }
  });

  it('gives every account the access that the manifest promises', async () => {
    const server = await assay.serveHere();
    const hours = (uid: string, token = '') =>
      send(server.origin, 'GET', `/v1/assessments/${uid}/testing_hours`, { token }).then(
        ({ status }) => status,
      );
    for (const [name, otherName] of [
      [manifest, manifest.other],
      [manifest.other, manifest],
    ] as const) {
      const { admin, member, spare, outsider } = name.users;
      for (const { token } of [admin, member, spare])
        expect(await hours(name.assessment.uid, token)).toBe(200);
      expect(await hours(name.assessment.uid, outsider.token)).toBe(404);
      expect(await hours(name.assessment.uid, manifest.users.staff.token)).toBe(200);
      expect(await hours(name.assessment.uid, otherName.users.admin.token)).toBe(404);
      const ports = `/api/streaming/v1/${name.organization.uid}/assets/${name.assets.host}/ports`;
      expect((await send(server.origin, 'GET', ports, { token: member.token })).status).toBe(200);
      const history = await send(server.origin, 'GET', `${ports}/history?per_page=1000`, {
        token: member.token,
      });
      const events = history.body.data.attributes.events as { at: string; kind: string }[];
      expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(['opened', 'closed', 'changed']));
      expect(new Set(events.map(({ at }) => at)).size).toBeGreaterThan(2);
    }
  });

  it('renews the secrets if the manifest is missing', async () => {
    await assay.json('user', 'ban', manifest.other.users.spare.email);
    const before = await countEverything();
    rmSync(file);
    const { code, stdout, stderr } = await assay.run(['demo', '--json']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/new passwords/);
    const renewed = JSON.parse(stdout) as DemoManifest;
    const { spare } = manifest.other.users;
    expect(renewed).toEqual({
      ...EXPECTED,
      other: {
        ...EXPECTED.other,
        users: { ...EXPECTED.other.users, spare: { id: spare.id, uid: spare.uid, email: spare.email } },
      },
    });
    expect(renewed.users.admin).toMatchObject({ id: manifest.users.admin.id, uid: manifest.users.admin.uid });
    expect(renewed.users.admin.token).not.toBe(manifest.users.admin.token);
    expect(renewed.vulnerabilityTags).toEqual(manifest.vulnerabilityTags);
    const { confidential } = renewed.oauthClients;
    expect(confidential.client_id).toBe(manifest.oauthClients.confidential.client_id);
    expect(confidential.client_secret).not.toBe(manifest.oauthClients.confidential.client_secret);
    expect(await countEverything()).toEqual({ ...before, tokens: (before['tokens'] ?? 0) + 8 });
    expect(await assay.json('demo')).toEqual(renewed);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('creates a confidential client that acts as the staff user and supports the code flow', async () => {
    const clients = await assay.json('client', 'list');
    expect(clients).toContainEqual({
      client_id: manifest.oauthClients.confidential.client_id,
      name: 'Demo script',
      kind: 'confidential',
      redirect_uris: ['http://127.0.0.1/callback'],
      implicit: false,
      scopes: null,
      user: manifest.users.staff.email,
      created_at: expect.any(String),
    });
    const db = await open();
    const { rows } = await query<object>(db, 'select * from oauth_clients');
    const { rows: events } = await query<object>(db, 'select * from audit_events');
    await db.close();
    const { client_secret } = manifest.oauthClients.confidential;
    expect(JSON.stringify([rows, events])).not.toContain(client_secret);
  });

  it('adds the clients to a manifest of an earlier version without them', async () => {
    const { oauthClients, ...oldManifest } = manifest;
    writeFileSync(file, JSON.stringify(oldManifest));
    const now = await assay.json('demo');
    expect(now).toEqual({ ...oldManifest, oauthClients: EXPECTED.oauthClients });
    expect(now.oauthClients.confidential.client_id).toBe(oauthClients.confidential.client_id);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(now);
  });

  it('replaces the manifest of another database', async () => {
    const foreign = structuredClone(manifest);
    foreign.users.admin.uid = 'someoneelse';
    writeFileSync(file, JSON.stringify(foreign));
    chmodSync(file, 0o644);
    const ownManifest = await assay.json('demo');
    expect(ownManifest.users.admin.uid).toBe(manifest.users.admin.uid);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

// On PostgreSQL, serve.test.ts loads the demo data.
describe.runIf(engine() === 'sqlite')('assay demo beside other data', () => {
  it('adds its organizations, and fails if an email address is taken', async () => {
    const otherDatabase = await createTestDatabase();
    const options = { data: otherDatabase.dataDirectory };
    await assay.run(['organization', 'create', 'umbra', '--name', 'Umbra'], options);
    await assay.run(
      ['user', 'create', '--email', 'admin@halden.example', '--organization', 'umbra'],
      options,
    );
    const rejected = await assay.run(['demo'], options);
    expect(rejected.code).toBe(1);
    expect(rejected.stderr).toMatch(/^assay: .*admin@halden\.example.*\n$/);
    const list = async () =>
      JSON.parse((await assay.run(['organization', 'list', '--json'], options)).stdout).map(
        ({ uid }: { uid: string }) => uid,
      );
    expect(await list()).toEqual(['umbra']);

    await assay.run(['user', 'ban', 'admin@halden.example'], options);
    const loaded = await assay.run(['demo'], options);
    expect({ code: loaded.code, stdout: loaded.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Demo data loaded.'),
    });
    expect(await list()).toEqual(['umbra', 'acme', 'halden']);
    const file = join(otherDatabase.dataDirectory, 'demo.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(EXPECTED);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await otherDatabase.drop();
  });
});

const open = () => openDatabase({ ...assay.database, timeout: 30_000 });
type Database = Awaited<ReturnType<typeof open>>;

function query<Row>(db: Database, text: string) {
  return db.read.executeQuery(CompiledQuery.raw(text) as CompiledQuery<Row>);
}

/** Returns the number of rows of each table that the demo fills. */
async function countEverything(): Promise<Record<string, number>> {
  const tables = ['organizations', 'users', 'tokens', 'assets', 'vulnerabilities', 'attachments', 'ports'];
  const db = await open();
  try {
    const counts = [];
    for (const table of tables) {
      const { rows } = await query<{ n: number }>(db, `select count(*) as n from ${table}`);
      counts.push([table, rows[0]?.n ?? 0] as const);
    }
    return Object.fromEntries(counts);
  } finally {
    await db.close();
  }
}
