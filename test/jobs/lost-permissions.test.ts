import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitForImport, uploadReport } from '../harness/imports.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let world: ReturnType<typeof createFixtures>;
let staff: TestUser;
beforeAll(async () => {
  server = await useSharedServer();
  world = createFixtures(server);
  staff = await world.user();
});
afterAll(() => server.close());

const reportOf = (findings: number) =>
  Array.from({ length: findings }, (_, index) =>
    JSON.stringify({
      'template-id': `rule-${index}`,
      type: 'http',
      host: 'https://shop.example',
      'matched-at': 'https://shop.example/',
      info: { name: `Rule ${index}`, severity: 'low' },
    }),
  ).join('\n');
/** Enough that the import still runs when the permission is checked. */
const MANY = 8_000;

/** Creates an organization with an assessment, an admin, and a user with access to it. */
async function createAssessment() {
  const { uid: organization } = await world.organization();
  const { uid } = await world.assessment(organization);
  const admin = await world.user({ organization, admin: true });
  const user = await world.user({ organization, assessments: [uid] });
  return { organization, uid, admin, user };
}

describe('An import', () => {
  it('fails if the user who started it is banned, whether it is running or queued', async () => {
    const { uid, user } = await createAssessment();
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, user.token, reportOf(MANY), fields);
    expect(running.status).toBe(202);
    const waiting = await uploadReport(server, user.token, reportOf(1), fields);
    await waitForImport(server, staff.token, running.body.id, (job) => job.progress.findings > 0);
    const banned = await server.request('DELETE', `/v1/users/${user.id}`, { token: staff.token });
    expect(banned.status).toBe(200);
    const reason = { message: 'The account that started the import was banned.' };
    const first = await waitForImport(server, staff.token, running.body.id);
    expect(first).toMatchObject({ state: 'failed', error: reason });
    expect(first.result.findings_created).toBeLessThan(MANY);
    const { body } = await server.request('GET', `/v1/assessments/${uid}`, { token: staff.token });
    expect(body.vulnerability_count).toBe(first.result.findings_created);
    const second = await waitForImport(server, staff.token, waiting.body.id);
    expect(second).toMatchObject({ state: 'failed', error: reason, result: null });
  });

  it('fails if the user who started it loses access to the assessment, and continues if the token is revoked', async () => {
    const { uid, user, admin } = await createAssessment();
    const fields = { assessment_id: uid };
    const running = await uploadReport(server, user.token, reportOf(MANY), fields);
    await waitForImport(server, staff.token, running.body.id, (job) => job.progress.findings > 0);
    const { body: tokens } = await server.request('GET', '/v1/tokens', { token: user.token });
    for (const { id } of tokens) await server.request('DELETE', `/v1/tokens/${id}`, { token: user.token });
    const waiting = await uploadReport(server, admin.token, reportOf(1), fields);
    const changed = await server.request('PUT', `/v1/users/${user.id}`, {
      token: admin.token,
      body: { assessments: [] },
    });
    expect(changed.status).toBe(200);
    expect(await waitForImport(server, admin.token, running.body.id)).toMatchObject({
      state: 'failed',
      error: { message: 'The account that started the import no longer has access to the assessment.' },
    });
    expect(await waitForImport(server, admin.token, waiting.body.id)).toMatchObject({ state: 'succeeded' });
  });
});
