import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endedImport, startImport } from '../harness/imports.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';

let server: TestServer;
let world: ReturnType<typeof worldOf>;
beforeAll(async () => {
  server = await startTestServer();
  world = worldOf(server);
});
afterAll(() => server.close());

/** Seconds of work: many units of work. */
const FINDINGS = 20_000;
const REPORT = Array.from({ length: FINDINGS }, (_, index) =>
  JSON.stringify({
    'template-id': `rule-${index}`,
    type: 'http',
    host: 'shop.example',
    'matched-at': 'https://shop.example/',
    info: { name: `Rule ${index}`, severity: 'low', description: `Rule ${index} has found something.` },
  }),
).join('\n');
const ROUNDS = 10;

describe('While an import runs', () => {
  it('reads and single writes are answered, those of its own assessment too', async () => {
    const { uid: organization } = await world.organization();
    const { uid } = await world.assessment(organization);
    const { token } = await world.user({ organization, admin: true });
    const { id } = await world.vulnerability(uid);
    const { body } = await startImport(server, token, REPORT, { assessment_id: uid });
    const one = await endedImport(server, token, body.id, (job) => job.progress.findings > 0);
    expect(one.state).toBe('running');
    for (let round = 0; round < ROUNDS; round += 1) {
      const changed = await server.request('PATCH', `/v1/vulnerabilities/${id}`, {
        token,
        body: { status_id: 1 + (round % 4) },
      });
      expect(changed.status).toBe(200);
      const listed = await server.request(
        'GET',
        `/v1/vulnerabilities?filter[id][]=${id}&filter[status_id][]=${1 + (round % 4)}`,
        { token },
      );
      expect([listed.status, listed.body.some((row: { id: number }) => row.id === id)]).toEqual([200, true]);
    }
    // All of that was answered before the import ended: had it held the database or the process, it would have by now.
    const { body: still } = await server.request('GET', `/v1/imports/${body.id}`, { token });
    expect(still.state).toBe('running');
    const ended = await endedImport(server, token, body.id);
    expect(ended).toMatchObject({ state: 'succeeded', result: { findings_created: FINDINGS } });
  });
});
