import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { cliChangeContext, operatorCaller } from '../../src/auth/callers.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { inList, selectIds } from '../../src/db/dialect-sql.ts';
import {
  countUnindexed,
  enqueueForSearchIndex,
  indexPending,
  selectIdsContaining,
} from '../../src/db/vulnerability-search.ts';
import { createAssessment } from '../../src/domain/assessments/create-assessment.ts';
import { createOrganization } from '../../src/domain/users/staff-organizations.ts';
import { waitForSearchIndex } from '../../src/api/vulnerabilities/bulk-update.ts';
import { countUnsearchable } from '../../src/domain/vulnerabilities/bulk/update.ts';
import { fillSearchIndex } from '../../src/jobs/fill-search-index.ts';
import { indexEndedImportsJob, indexSearchJob } from '../../src/jobs/index-search.ts';
import { eventually } from '../harness/eventually.ts';
import { insertImport, waitForImport, uploadReport } from '../harness/imports.ts';
import { createTestDatabase, useOwnDatabase } from '../harness/database.ts';
import { engine, startTestServer, useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useOwnServer();
const { db: ownDb, testDatabase } = await useOwnDatabase();

const FINDINGS = 250;

it('indexes all findings of an import', async () => {
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
  // The job of the server itself may have locked some of them.
  await eventually(async () =>
    expect(await db.read.selectFrom('search_index_queue').selectAll().execute()).toEqual([]),
  );
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
async function importInto(db: Database, uid: string, count: number, importId = 1_000): Promise<number[]> {
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
      import_id: importId,
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
    await enqueueForSearchIndex(tx, { importId, organizationId }, ids);
    return ids;
  });
}

const indexed = async (db: Database) => {
  const queued = await db.read.selectFrom('search_index_queue').selectAll().execute();
  return queued.length === 0;
};

describe('Beside a running import', () => {
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
    await db.write((tx) =>
      tx
        .updateTable('search_index_queue')
        .set({ import_id: id })
        .where('first_id', '=', running[0] as number)
        .execute(),
    );
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

describe('The index', () => {
  const matchIds = (text: string) => selectIds(ownDb.read, selectIdsContaining(ownDb, text, null));
  const fill = (db = ownDb) =>
    fillSearchIndex(db, { endedOnly: false, signal: new AbortController().signal });
  const setWords = (tx: Transaction, id: number, search_title: string) =>
    tx.updateTable('vulnerabilities').set({ search_title }).where('id', '=', id).execute();
  const deleteRow = (tx: Transaction, id: number) =>
    tx.deleteFrom('vulnerabilities').where('id', '=', id).execute();

  it('finds a vulnerability that was edited or deleted before the job by its present words, and once', async () => {
    const [edited = 0, deleted = 0, other = 0] = await importInto(ownDb, 'stale', 3);
    await ownDb.write(async (tx) => {
      await setWords(tx, edited, 'fresh words');
      await deleteRow(tx, deleted);
    });
    await fill();
    expect(await matchIds('fresh words')).toEqual([edited]);
    expect(await matchIds('stale')).toEqual([other]);
    await ownDb.write(async (tx) => {
      await setWords(tx, edited, 'later words');
      await deleteRow(tx, other);
    });
    expect([await matchIds('fresh words'), await matchIds('later words'), await matchIds('stale')]).toEqual([
      [],
      [edited],
      [],
    ]);
  });

  it('is not needed for one or two characters of a title', async () => {
    const ids = await importInto(ownDb, 'zq', 2);
    await importInto(ownDb, 'other', 2);
    const ofOrganization = async (organizationId: number) =>
      selectIds(ownDb.read, selectIdsContaining(ownDb, 'zq', [organizationId]));
    const { organization_id: organizationId } = await ownDb.read
      .selectFrom('vulnerabilities')
      .select('organization_id')
      .where('id', '=', ids[0] as number)
      .executeTakeFirstOrThrow();
    for (const step of ['queued', 'indexed']) {
      expect([step, await matchIds('zq'), await ofOrganization(organizationId)]).toEqual([step, ids, ids]);
      expect(await ofOrganization(organizationId + 1)).toEqual([]);
      await fill();
    }
  });

  it('finds a vulnerability that was deleted and created again by its present words', async () => {
    const [id = 0] = await importInto(ownDb, 'phoenix', 1);
    await fill();
    await ownDb.write(async (tx) => {
      const row = await tx
        .selectFrom('vulnerabilities')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      await deleteRow(tx, id);
      const { severity_rank: _rank, reported_at: _time, ...columns } = row;
      await tx
        .insertInto('vulnerabilities')
        .values({ ...columns, search_title: 'from ashes' })
        .execute();
      const { organization_id: organizationId } = row;
      await enqueueForSearchIndex(tx, { importId: 1_001, organizationId }, [id]);
    });
    await fill();
    expect([await matchIds('phoenix'), await matchIds('from ashes')]).toEqual([[], [id]]);
  });

  it('counts and adds each of two imports whose ids alternate', async () => {
    const ids = await importInto(ownDb, 'alternating', 8);
    const { organization_id: organizationId } = await ownDb.read
      .selectFrom('vulnerabilities')
      .select('organization_id')
      .where('id', '=', ids[0] as number)
      .executeTakeFirstOrThrow();
    const runningImport = await insertImport({ context: { db: ownDb } } as never, {
      organizationId,
      state: 'running',
    });
    await ownDb.write(async (tx) => {
      await tx.deleteFrom('search_index_queue').execute();
      const [even, odd] = [0, 1].map((rest) => ids.filter((_id, index) => index % 2 === rest));
      await enqueueForSearchIndex(tx, { importId: runningImport, organizationId }, odd ?? []);
      await enqueueForSearchIndex(tx, { importId: 1_000, organizationId }, even ?? []);
    });
    const take = (endedOnly: boolean) => ownDb.write((tx) => indexPending(tx, 1, 0, endedOnly));
    const count = () => countUnindexed(ownDb.read, [organizationId]);
    // The range of the import that has ended begins with an id of its own, and what is left of it with one of the other.
    expect(await count()).toBe(7);
    expect(await take(true)).toEqual({ queued: 1, organizationId, left: 6 });
    expect(await count()).toBe(6);
    expect(await take(false)).toEqual({ queued: 1, organizationId, left: 12 });
    await fillSearchIndex(ownDb, { endedOnly: true, signal: new AbortController().signal });
    expect(await count()).toBe(0);
    await fill();
    expect((await matchIds('alternating')).sort((one, other) => one - other)).toEqual(ids);
  });

  it('is filled by several instances at once', async () => {
    const ids = await importInto(ownDb, 'together', 2_300);
    await importInto(ownDb, 'besides', 700);
    const instances = await Promise.all([1, 2].map(() => openDatabase({ ...testDatabase, timeout: 30_000 })));
    await Promise.all([ownDb, ...instances].map((db) => fill(db)));
    for (const db of instances) await db.close();
    expect((await matchIds('together')).sort((one, other) => one - other)).toEqual(ids);
    expect(await matchIds('besides')).toHaveLength(700);
  });

  // SQLite has one writer at a time.
  describe.runIf(engine() === 'postgres')('of PostgreSQL', () => {
    /** Runs statements, starts the job, and commits once the job waits. */
    const besideJob = async (statement: string, ids: readonly number[]) => {
      const client = new pg.Client({ connectionString: testDatabase.databaseUrl });
      await client.connect();
      await client.query('begin');
      await client.query(statement, [ids]);
      const filled = fill();
      for (let waiting = 0; waiting === 0;) {
        const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(ownDb.read);
        waiting = rows.length;
      }
      await client.query('commit');
      await filled;
      await client.end();
    };

    it('gets the words that an open transaction changed', async () => {
      const ids = await importInto(ownDb, 'before', 3);
      await besideJob(
        `update vulnerabilities set search_title = 'after it' where id = any($1)`,
        ids.slice(1),
      );
      expect([await matchIds('before'), await matchIds('after it')]).toEqual([ids.slice(0, 1), ids.slice(1)]);
    });

    it('has no list of new rows after the job, which each search would read', async () => {
      await importInto(ownDb, 'merged', 3);
      await fill();
      const { rows } = await ownDb.write((tx) =>
        sql<{ pages: number }>`
          select gin_clean_pending_list('vulnerability_search_by_text') as pages`.execute(tx),
      );
      expect(rows).toEqual([{ pages: 0 }]);
    });

    it('gets nothing of what an open transaction deleted', async () => {
      const ids = await importInto(ownDb, 'vanishing', 3);
      await besideJob('delete from vulnerabilities where id = any($1)', ids.slice(1));
      const rows = sql`select id from vulnerability_search where ${inList(ownDb, sql.ref<number>('id'), ids)}`;
      expect(await selectIds(ownDb.read, rows)).toEqual(ids.slice(0, 1));
    });
  });
});
