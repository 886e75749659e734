import { afterAll, beforeAll, expect, it } from 'vitest';
import { indexSearchJob } from '../../src/jobs/index-search.ts';
import { waitForImport, uploadReport } from '../harness/imports.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const FINDINGS = 250;

it('indexes all findings of an import in one run of the job', async () => {
  const world = createFixtures(server);
  const { uid: organization } = await world.organization();
  const { uid } = await world.assessment(organization);
  const { token } = await world.user({ organization, admin: true });
  const report = Array.from({ length: FINDINGS }, (_, number) =>
    JSON.stringify({
      'template-id': `rule-${number}`,
      type: 'http',
      host: 'shop.example',
      info: { name: `Rule ${number}`, severity: 'low', description: `It has needle${number}z in it.` },
    }),
  ).join('\n');
  const { body } = await uploadReport(server, token, report, { assessment_id: uid });
  expect((await waitForImport(server, token, body.id)).state).toBe('succeeded');
  const run = (signal: AbortSignal) => indexSearchJob(server.context).run({ signal } as never);
  await run(new AbortController().signal);
  const { db } = server.context;
  expect(await db.read.selectFrom('search_index_queue').selectAll().execute()).toEqual([]);
  for (const number of [0, 100, FINDINGS - 1]) {
    const found = await server.request('GET', `/v1/vulnerabilities?filter[search]=needle${number}z`, {
      token,
    });
    expect(found.body.map(({ title }: { title: string }) => title)).toEqual([`Rule ${number}`]);
  }
  // The queue is empty: no worker thread starts.
  await run(AbortSignal.abort(new Error('unused')));
});
