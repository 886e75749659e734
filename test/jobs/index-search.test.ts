import { describe, expect, it } from 'vitest';
import { cliChangeContext, operatorCaller } from '../../src/auth/callers.ts';
import { type Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { enqueueForSearchIndex, indexPending } from '../../src/db/vulnerability-search.ts';
import { createAssessment } from '../../src/domain/assessments/create-assessment.ts';
import { createOrganization } from '../../src/domain/users/staff-organizations.ts';
import { waitForSearchIndex } from '../../src/api/vulnerabilities/bulk-update.ts';
import { countUnsearchable } from '../../src/domain/vulnerabilities/bulk/update.ts';
import { indexEndedImportsJob, indexSearchJob } from '../../src/jobs/index-search.ts';
import { insertImport, waitForImport, uploadReport } from '../harness/imports.ts';
import { createTestDatabase } from '../harness/database.ts';
import { engine, startTestServer, useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useOwnServer();

const FINDINGS = 250;

it('indexes all findings of an import in one run of the job', async () => {
  const fixtures = createFixtures(server);
  const { uid: organization } = await fixtures.organization();
  const { uid } = await fixtures.assessment(organization);
  const { token } = await fixtures.user({ organization, admin: true });
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
    const list = await server.request('GET', `/v1/vulnerabilities?filter[search]=needle${number}z`, {
      token,
    });
    expect(list.body.map(({ title }: { title: string }) => title)).toEqual([`Rule ${number}`]);
  }
  // The queue is empty: no worker thread starts.
  await run(AbortSignal.abort(new Error('unused')));
});

/** Inserts vulnerabilities of a new organization as an import does. @returns their ids */
async function importInto(db: Database, uid: string, count: number): Promise<number[]> {
  return db.write(async (tx) => {
    const by = cliChangeContext(1);
    const { id: organizationId } = await createOrganization(tx, by, { uid, name: uid });
    const { id: assessmentId } = await createAssessment(tx, by, { uid, name: uid, organization: uid });
    const row = {
      organization_id: organizationId,
      assessment_id: assessmentId,
      severity: 'Low' as const,
      status_id: 1,
      status_set_at: 1,
      created_at: 1,
      updated_at: 1,
      first_seen_at: 1,
      import_id: 1,
      title: uid,
      description: uid,
      search_title: uid,
    };
    const rows = await tx
      .insertInto('vulnerabilities')
      .values(Array.from({ length: count }, () => row))
      .returning('id')
      .execute();
    const ids = rows.map(({ id }) => id);
    await enqueueForSearchIndex(tx, ids);
    return ids;
  });
}

const indexed = async (db: Database) => {
  const queued = await db.read.selectFrom('search_index_queue').selectAll().execute();
  return queued.length === 0;
};

/** PostgreSQL indexes on insert. */
describe.runIf(engine() === 'sqlite')('Beside a running import', () => {
  const runningImport = (db: Database, leaseEnds: number) =>
    db.write((tx) =>
      tx
        .insertInto('jobs')
        .values({
          kind: 'import',
          key: 'import:0',
          payload: 'null',
          attempts: 1,
          run_at: leaseEnds,
          locked_by: 'another instance',
          created_at: 1,
        })
        .execute(),
    );
  const prepare = async (leaseEnds: number) => {
    let now = Date.UTC(2027, 0, 1);
    const ownServer = await startTestServer({}, () => now);
    const { db } = ownServer.context;
    await runningImport(db, leaseEnds);
    await importInto(db, 'acme', 3);
    const job = indexSearchJob(ownServer.context);
    return {
      server: ownServer,
      db,
      run: () => job.run({ signal: new AbortController().signal } as never),
      wait: (milliseconds: number) => void (now += milliseconds),
      close: () => ownServer.close(),
    };
  };

  it('what was imported before waits for a minute, and for no longer', async () => {
    const { db, run, wait, close } = await prepare(Number.MAX_SAFE_INTEGER);
    await run();
    wait(59_999);
    await run();
    expect(await indexed(db)).toBe(false);
    wait(1);
    await run();
    expect(await indexed(db)).toBe(true);
    await close();
  });

  it('whose instance has died, nothing waits', async () => {
    const { db, run, close } = await prepare(1);
    await run();
    expect(await indexed(db)).toBe(true);
    await close();
  });

  it('what an import added that has ended waits for none', async () => {
    const { server: ownServer, db, close } = await prepare(Number.MAX_SAFE_INTEGER);
    const running = await importInto(db, 'running', 3);
    const { id: organizationId } = await db.read
      .selectFrom('organizations')
      .select('id')
      .where('uid', '=', 'running')
      .executeTakeFirstOrThrow();
    const id = await insertImport(ownServer, { organizationId, state: 'running' });
    await db.write(async (tx) => {
      const all = tx.updateTable('vulnerabilities');
      await all.set({ import_id: id + 1 }).execute();
      await all
        .set({ import_id: id })
        .where('id', '>=', running[0] as number)
        .execute();
    });
    const staff = { ...operatorCaller('test'), staff: true, assignedOrganizations: null };
    const wait = (search = 'acme') =>
      waitForSearchIndex(() => countUnsearchable(db.read, staff, { search }), 0);
    await expect(wait()).rejects.toMatchObject({
      kind: 'conflict',
      errorCode: 'search-index-behind',
      params: { count: 3 },
    });
    // Short texts are not looked up in the index.
    await wait('ac');
    await indexEndedImportsJob(ownServer.context).run({ signal: new AbortController().signal } as never);
    const queued = await db.read.selectFrom('search_index_queue').select('first_id').execute();
    expect(queued).toEqual([{ first_id: running[0] }]);
    await wait();
    await close();
  });

  it('the end of an import starts the index', async () => {
    const fixtures = createFixtures(server);
    const { uid: organization } = await fixtures.organization();
    const { uid } = await fixtures.assessment(organization);
    const { token } = await fixtures.user({ organization, admin: true });
    const report = JSON.stringify({ findings: [{ title: 'Found at once', severity: 'Low' }] });
    const { body } = await uploadReport(server, token, report, { assessment_id: uid });
    await waitForImport(server, token, body.id);
    const update = { filter: { search: 'found at once' }, set: { severity: 'High' } };
    const updated = await server.request('POST', '/v1/vulnerabilities/bulk_update', { token, body: update });
    expect(updated.body).toMatchObject({ matched_count: 1 });
  });

  it('organizations take turns, and the oldest of each comes first', async () => {
    const database = await createTestDatabase();
    const db = await openDatabase({ ...database, timeout: 30_000 });
    await db.migrate();
    const largeOrganization = await importInto(db, 'large', 250);
    const smallOrganization = await importInto(db, 'small', 120);
    // Rows that are deleted meanwhile stay in the queue.
    const deleted = await importInto(db, 'deleted', 20);
    await db.write((tx) =>
      tx
        .deleteFrom('vulnerabilities')
        .where('id', '=', deleted[0] as number)
        .execute(),
    );
    const batches = [];
    let last = 0;
    for (;;) {
      const before = await db.read.selectFrom('search_index_queue').select('first_id').execute();
      const { queued, organizationId, left } = await db.write((tx) => indexPending(tx, 100, last));
      if (queued === 0) break;
      last = organizationId;
      const after = await db.read.selectFrom('search_index_queue').select('first_id').execute();
      const removed = before.find(({ first_id }) => !after.some((row) => row.first_id === first_id));
      batches.push([removed?.first_id, queued, left]);
    }
    const [first = 0, second = 0, third = 0] = [largeOrganization[0], smallOrganization[0], deleted[0]];
    expect(batches).toEqual([
      [first, 100, 290],
      [second, 100, 190],
      [third, 20, 170],
      [first + 100, 100, 70],
      [second + 100, 20, 50],
      [first + 200, 50, 0],
    ]);
    await db.close();
    await database.drop();
  });
});
