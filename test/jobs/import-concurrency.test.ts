import { afterAll, describe, expect, it, vi } from 'vitest';
import { SILENCE_LIMIT } from '../../src/importers/worker/import-worker-host.ts';
import { eventually } from '../harness/eventually.ts';
import { HELD_REPORT, startImportGate } from '../harness/import-gate.ts';
import { waitForImport, uploadReport } from '../harness/imports.ts';
import { startTestServer } from '../harness/server.ts';
import { childProcessesOf } from '../harness/machine.ts';
import { createFixtures } from '../harness/fixtures.ts';

const gate = await startImportGate();
const server = await startTestServer({ attachments: gate.attachments });
const fixtures = createFixtures(server);
afterAll(async () => {
  await server.close();
  await gate.stop();
});

const finding = (number: number, description: string) =>
  JSON.stringify({
    'template-id': `rule-${number}`,
    type: 'http',
    host: 'shop.example',
    'matched-at': 'https://shop.example/',
    info: { name: `Rule ${number}`, severity: 'low', description },
  });
/** More than the largest transactions have, which are of a thousand (`src/importers/apply/findings.ts`). */
const FINDINGS = 5_000;
const TRANSACTIONS = 5;
const REPORT = Array.from({ length: FINDINGS }, (_, index) =>
  finding(index, `Rule ${index} has found something.`),
).join('\n');
/** MiB of memory, enough to start a worker but not for a finding of this size. */
const MEMORY = 12;
const ROUNDS = 5;

/** @returns how many assets the imports of an assessment saw */
async function countAssets(uid: string): Promise<number> {
  const { count } = await server.context.db.read
    .selectFrom('detected_assets')
    .innerJoin('assessments', 'assessments.id', 'detected_assets.assessment_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('assessments.uid', '=', uid)
    .executeTakeFirstOrThrow();
  return count;
}

describe('While an import runs', () => {
  it('requests are answered, also those that read and change its assessment', async () => {
    const { uid: organization } = await fixtures.organization();
    const { uid } = await fixtures.assessment(organization);
    const { token } = await fixtures.user({ organization, admin: true });
    const { id } = await fixtures.vulnerability(uid);
    gate.hold();
    const { body } = await uploadReport(server, token, HELD_REPORT, { assessment_id: uid });
    // It has applied part of the report. If one transaction lasted for the whole report, no other change would succeed.
    await eventually(async () => expect(await countAssets(uid)).toBeGreaterThan(0));
    if (process.platform === 'linux')
      expect(childProcessesOf(process.pid)).toContainEqual(expect.objectContaining({ nice: 10 }));
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
    const { body: still } = await server.request('GET', `/v1/imports/${body.id}`, { token });
    expect(still.state).toBe('running');
    gate.release();
    expect(await waitForImport(server, token, body.id)).toMatchObject({ state: 'succeeded' });
  });

  it('its findings are applied in many transactions, between which others write', async () => {
    const { uid: organization } = await fixtures.organization();
    const { id, uid } = await fixtures.assessment(organization);
    const { token } = await fixtures.user({ organization, admin: true });
    const { body } = await uploadReport(server, token, REPORT, { assessment_id: uid });
    const ended = await waitForImport(server, token, body.id);
    expect(ended).toMatchObject({ state: 'succeeded', result: { findings_created: FINDINGS } });
    // Each transaction reads the clock once, and waits for some milliseconds after the last.
    const times = server.context.db.read
      .selectFrom('vulnerabilities')
      .select('created_at')
      .distinct()
      .where('assessment_id', '=', id);
    expect((await times.execute()).length).toBeGreaterThanOrEqual(TRANSACTIONS);
  });
});

describe('An import that exceeds its memory limit', () => {
  it('fails without a retry, and the server continues', async () => {
    const smallServer = await startTestServer({ importMemory: MEMORY });
    try {
      const smallFixtures = createFixtures(smallServer);
      const { uid: organization } = await smallFixtures.organization();
      const { uid } = await smallFixtures.assessment(organization);
      const { token } = await smallFixtures.user({ organization, admin: true });
      const { body } = await uploadReport(smallServer, token, finding(1, 'x'.repeat(MEMORY * 1024 ** 2)), {
        assessment_id: uid,
      });
      const ended = await waitForImport(smallServer, token, body.id);
      expect(ended).toMatchObject({
        state: 'failed',
        error: { message: expect.stringContaining(`its memory limit of ${MEMORY} MiB`) },
      });
      expect(await smallFixtures.auditEvents()).toContainEqual(
        expect.objectContaining({ action: 'import.end' }),
      );
      const jobs = await smallServer.context.db.read
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', 'import')
        .execute();
      expect(jobs).toEqual([]);
      const lines = smallServer.logs().filter((line) => line['import'] === body.id);
      expect(lines.map(({ msg }) => msg)).toEqual(['an import exceeded its memory limit']);
    } finally {
      await smallServer.close();
    }
  });
});

describe('An import that makes no progress', () => {
  it('fails without a retry, keeps what it had applied, and gives its slot back', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const watched = await startTestServer({ attachments: gate.attachments });
    try {
      const watchedFixtures = createFixtures(watched);
      const { uid: organization } = await watchedFixtures.organization();
      const { uid } = await watchedFixtures.assessment(organization);
      const { token } = await watchedFixtures.user({ organization, admin: true });
      gate.hold();
      const { body } = await uploadReport(watched, token, HELD_REPORT, { assessment_id: uid });
      const applied = watched.context.db.read.selectFrom('assets').select('id');
      await eventually(async () => expect((await applied.execute()).length).toBeGreaterThan(0));
      // Advances in one turn of the event loop, so that no message of the worker arrives in between.
      vi.advanceTimersByTime(SILENCE_LIMIT * 2);
      const ended = await waitForImport(watched, token, body.id);
      expect(ended).toMatchObject({
        state: 'failed',
        error: { message: expect.stringContaining('made no progress for 60 seconds and was stopped') },
      });
      expect((await applied.execute()).length).toBeGreaterThan(0);
      const jobs = watched.context.db.read.selectFrom('jobs').select('id').where('kind', '=', 'import');
      expect(await jobs.execute()).toEqual([]);
      const lines = watched.logs().filter((line) => line['import'] === body.id);
      expect(lines.map(({ msg }) => msg)).toEqual(['an import was stuck']);
      gate.release();
      const { body: next } = await uploadReport(watched, token, HELD_REPORT, { assessment_id: uid });
      expect(await waitForImport(watched, token, next.id)).toMatchObject({ state: 'succeeded' });
    } finally {
      gate.release();
      vi.useRealTimers();
      await watched.close();
    }
  });
});
