import { beforeAll, expect, it } from 'vitest';
import { verifyListContract } from '../harness/list-contract.ts';
import { waitForImport, uploadReport } from '../harness/imports.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { host, port, report } from '../importers/reports.ts';

let admin: TestUser;
let member: TestUser;
let assessments: [string, string];

const server = await useOwnServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid: organization } = await fixtures.organization();
  admin = await fixtures.user({ organization, admin: true });
  member = await fixtures.user({ organization });
  assessments = [
    (await fixtures.assessment(organization)).uid,
    (await fixtures.assessment(organization)).uid,
  ];
  await fixtures.access(assessments[0], member.id);
  const complete = report(host('192.0.2.1', port(80)));
  for (const [index, content] of [complete, complete.slice(0, -20), complete, complete, complete].entries()) {
    const fields: Record<string, string> =
      index === 4
        ? { dry_run: 'true' }
        : { assessment_id: assessments[index % 2] as string, tags: '"dryRun":true' };
    const { body } = await uploadReport(server, admin.token, content, fields);
    await waitForImport(server, admin.token, body.id);
  }
  const otherOrganization = await fixtures.organization();
  const foreignUser = await fixtures.user({ organization: otherOrganization.uid, admin: true });
  const { body } = await uploadReport(server, foreignUser.token, complete);
  await waitForImport(server, foreignUser.token, body.id);
});

it('lists imports, newest first', async () => {
  const rows = await verifyListContract(server, {
    operation: 'listImports',
    path: '/v1/imports',
    token: admin.token,
    key: 'id',
    style: 'v1',
    filters: {
      'filter[state][]': { value: 'failed', fits: ({ state }) => state === 'failed' },
      'filter[assessment_id][]': {
        value: assessments[0],
        fits: (row) => row['assessment_id'] === assessments[0],
      },
      'filter[dry_run]': { value: 'false', fits: ({ options }) => !options.dry_run },
    },
    orders: {},
    atLeast: 5,
  });
  expect(rows).toHaveLength(5);
  const times = rows.map((row) => row['created_at'] as string);
  expect(times).toEqual(times.toSorted().reverse());
});

it('lists imports of accessible assessments to members, and those without an assessment to admins only', async () => {
  const { body } = await server.request('GET', '/v1/imports', { token: member.token });
  expect(body.map((job: any) => job.assessment_id)).toEqual([assessments[0], assessments[0]]);
});

it('returns 400 for an unknown state', async () => {
  const { status } = await server.request('GET', '/v1/imports?filter[state][]=done', { token: admin.token });
  expect(status).toBe(400);
});
