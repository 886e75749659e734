import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { HELD_HOSTS, HELD_REPORT, startImportGate } from '../harness/import-gate.ts';
import { waitForImport, uploadReport } from '../harness/imports.ts';
import { startTestServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { host, port, report } from '../importers/reports.ts';

let staff: TestUser;
const gate = await startImportGate();
const server = await startTestServer({ attachments: gate.attachments });
const fixtures = createFixtures(server);
beforeAll(async () => {
  staff = await fixtures.user();
});
afterAll(async () => {
  await server.close();
  await gate.stop();
});
beforeEach(() => gate.hold());

const FINDING = JSON.stringify({
  'template-id': 'rule',
  type: 'http',
  host: 'https://shop.example',
  'matched-at': 'https://shop.example/',
  info: { name: 'Rule', severity: 'low' },
});

/** Creates an organization with an assessment, two admins, and a user with access to it. */
async function createAssessment() {
  const { id, uid: organization } = await fixtures.organization();
  const { uid } = await fixtures.assessment(organization);
  const admin = await fixtures.user({ organization, admin: true });
  // The last admin of an organization keeps the role.
  await fixtures.user({ organization, admin: true });
  const user = await fixtures.user({ organization, assessments: [uid] });
  const countAssets = async (): Promise<number> => {
    const { count } = await server.context.db.read
      .selectFrom('assets')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('organization_id', '=', id)
      .executeTakeFirstOrThrow();
    return count;
  };
  return { uid, organization, admin, user, countAssets };
}

async function demote({ id }: TestUser, assessments: string[]): Promise<void> {
  const body = { admin: false, assessments };
  const { status } = await server.request('PUT', `/v1/users/${id}`, { token: staff.token, body });
  expect(status).toBe(200);
}

describe('An import', () => {
  it('fails if the user who started it is banned, whether it is running or queued', async () => {
    const { uid, user, countAssets } = await createAssessment();
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, user.token, HELD_REPORT, fields);
    expect(running.status).toBe(202);
    const waiting = await uploadReport(server, user.token, FINDING, fields);
    await eventually(async () => expect(await countAssets()).toBeGreaterThan(0));
    const banned = await server.request('DELETE', `/v1/users/${user.id}`, { token: staff.token });
    expect(banned.status).toBe(200);
    const reason = { message: 'The account that started the import was banned.' };
    const first = await waitForImport(server, staff.token, running.body.id);
    expect(first).toMatchObject({ state: 'failed', error: reason });
    expect(first.result.assets_created).toBeLessThan(HELD_HOSTS);
    expect(await countAssets()).toBe(first.result.assets_created);
    const second = await waitForImport(server, staff.token, waiting.body.id);
    expect(second).toMatchObject({ state: 'failed', error: reason, result: null });
  });

  it('fails if the user who started it loses access to the assessment, and continues if the token is revoked', async () => {
    const { uid, user, admin } = await createAssessment();
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, user.token, HELD_REPORT, fields);
    await waitForImport(server, staff.token, running.body.id, (job) => job.state === 'running');
    const { body: tokens } = await server.request('GET', '/v1/tokens', { token: user.token });
    for (const { id } of tokens) await server.request('DELETE', `/v1/tokens/${id}`, { token: user.token });
    const waiting = await uploadReport(server, admin.token, FINDING, fields);
    const changed = await server.request('PUT', `/v1/users/${user.id}`, {
      token: admin.token,
      body: { assessments: [] },
    });
    expect(changed.status).toBe(200);
    expect(await waitForImport(server, admin.token, running.body.id)).toMatchObject({
      state: 'failed',
      error: { message: 'The account that started the import no longer has access to the assessment.' },
    });
    gate.release();
    expect(await waitForImport(server, admin.token, waiting.body.id)).toMatchObject({ state: 'succeeded' });
  });

  it('runs with the rights that its user still has when it begins', async () => {
    const { uid, organization, admin } = await createAssessment();
    const [listed, unlisted] = [
      await fixtures.asset({ organization, type: 'host', location: '192.0.2.1' }),
      await fixtures.asset({ organization, type: 'host', location: '192.0.2.2' }),
    ];
    await fixtures.list(uid, listed.uid);
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, staff.token, HELD_REPORT, fields);
    await waitForImport(server, staff.token, running.body.id, (job) => job.state === 'running');
    const hosts = ['192.0.2.1', '192.0.2.2'].map((address) => host(address, port(443))).join('');
    const { token: ofOrganization } = await fixtures.token(admin.id, { scopes: ['api', 'asset_client_ow'] });
    const waiting = await uploadReport(server, admin.token, report(hosts), fields);
    const withoutScope = await uploadReport(server, ofOrganization, report(hosts), fields);
    await demote(admin, [uid]);
    gate.release();
    expect(await waitForImport(server, staff.token, waiting.body.id)).toMatchObject({
      state: 'succeeded',
      result: { assets_created: 0, ports_opened: 1 },
      skips: [{ reason: 'no permission to change the host', count: 1 }],
    });
    const portsOf = async (asset: string) => {
      const path = `/api/streaming/v1/${organization}/assets/${asset}/ports`;
      return (await server.request('GET', path, { token: staff.token })).body.data.attributes.ports;
    };
    expect(await portsOf(listed.uid)).toHaveLength(1);
    expect(await portsOf(unlisted.uid)).toEqual([]);
    expect(await waitForImport(server, staff.token, withoutScope.body.id)).toMatchObject({
      state: 'succeeded',
      result: { assets_created: 0, assets_updated: 0, ports_opened: 0 },
      skips: [{ reason: 'no permission to change assets', count: 2 }],
    });
  });

  it('that lists assets fails if its user may no longer change the listing when it begins', async () => {
    const { uid, admin } = await createAssessment();
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, staff.token, HELD_REPORT, fields);
    await waitForImport(server, staff.token, running.body.id, (job) => job.state === 'running');
    const { token } = await fixtures.token(admin.id, { scopes: ['api', 'asset_client_ow'] });
    const waiting = await uploadReport(server, token, FINDING, { ...fields, list_assets: 'true' });
    expect(waiting.status).toBe(202);
    await demote(admin, [uid]);
    gate.release();
    expect(await waitForImport(server, staff.token, waiting.body.id)).toMatchObject({
      state: 'failed',
      error: { message: 'The account that started the import may no longer add assets to the listing.' },
    });
  });

  it('without an assessment fails if the user who started it is no longer an admin when it begins', async () => {
    const { admin } = await createAssessment();
    const running = await uploadReport(server, admin.token, HELD_REPORT);
    await waitForImport(server, admin.token, running.body.id, (job) => job.state === 'running');
    const waiting = await uploadReport(server, admin.token, report(host('192.0.2.1', port(443))));
    await demote(admin, []);
    const reason = 'The account that started the import is no longer an admin of the organization.';
    for (const { body } of [running, waiting])
      expect(await waitForImport(server, staff.token, body.id)).toMatchObject({
        state: 'failed',
        error: { message: reason },
      });
  });
});
