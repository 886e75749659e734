import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { HELD_HOSTS, HELD_REPORT, startImportGate } from '../harness/import-gate.ts';
import { waitForImport, insertImport, uploadReport } from '../harness/imports.ts';
import { startTestServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;

const gate = await startImportGate();
const server = await startTestServer({ attachments: gate.attachments });
const fixtures = createFixtures(server);
afterAll(async () => {
  await server.close();
  await gate.stop();
});
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const cancel = (id: number, { token } = admin) =>
  server.request('POST', `/v1/imports/${id}/cancel`, { token });
async function countAssets(): Promise<number> {
  const { count } = await server.context.db.read
    .selectFrom('assets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organization.id)
    .executeTakeFirstOrThrow();
  return count;
}
const actionsOf = async (id: number) =>
  (await fixtures.auditEvents())
    .filter(({ object_type: type, object_id: objectId }) => type === 'import' && objectId === String(id))
    .map(({ action }) => action);

describe('Operation 69: cancel an import', () => {
  it('cancels a queued import immediately, and a running one with the results applied so far', async () => {
    gate.hold();
    const largeImport = (await uploadReport(server, admin.token, HELD_REPORT)).body.id;
    // An organization runs one import at a time.
    const waiting = (await uploadReport(server, admin.token, HELD_REPORT)).body.id;
    await eventually(async () => expect(await countAssets()).toBeGreaterThan(0));
    const before = await cancel(waiting);
    expect([before.status, before.body.state, before.body.started_at]).toEqual([202, 'cancelled', null]);
    expect(before.body.finished_at).not.toBeNull();
    expect(await actionsOf(waiting)).toEqual(['import.start', 'import.cancel', 'import.end']);

    const response = await cancel(largeImport);
    expect([response.status, response.body.state]).toEqual([202, 'running']);
    const ended = await waitForImport(server, admin.token, largeImport);
    expect(ended.state).toBe('cancelled');
    const count = await countAssets();
    expect(ended.result.assets_created).toBe(count);
    expect(count).toBeLessThan(HELD_HOSTS);
    expect(await actionsOf(largeImport)).toEqual(['import.start', 'import.cancel', 'import.end']);
    const repeated = await cancel(largeImport);
    expect([repeated.status, repeated.body.detail]).toEqual([409, expect.stringContaining('cancelled')]);
    // The files of cancelled imports are deleted.
    const { db } = server.context;
    await eventually(async () =>
      expect(await db.read.selectFrom('blobs').select('key').execute()).toEqual([]),
    );
    expect(gate.size()).toBe(0);
  });

  it('allows the user who started it and admins', async () => {
    const assessment = await fixtures.assessment(organization.uid);
    const [starter, otherUser] = [
      await fixtures.user({ organization: organization.uid }),
      await fixtures.user({ organization: organization.uid }),
    ];
    for (const { id } of [starter, otherUser]) await fixtures.access(assessment.uid, id);
    const importMembers = {
      organizationId: organization.id,
      assessmentId: assessment.id,
      createdBy: starter.id,
    };
    const [first, second, third] = [
      await insertImport(server, importMembers),
      await insertImport(server, importMembers),
      await insertImport(server, importMembers),
    ];
    expect((await cancel(first, otherUser)).status).toBe(403);
    expect((await cancel(first, starter)).status).toBe(202);
    expect((await cancel(second, admin)).status).toBe(202);
    expect((await cancel(third, await fixtures.user())).status).toBe(202);
    const outsider = await fixtures.user({ organization: organization.uid });
    expect((await cancel(first, outsider)).status).toBe(404);
  });

  it.each(['succeeded', 'failed', 'cancelled'] as const)(
    'returns 409 for an import with the state %s',
    async (state) => {
      const id = await insertImport(server, { organizationId: organization.id, state, finishedAt: 1 });
      expect((await cancel(id)).status).toBe(409);
    },
  );
});
