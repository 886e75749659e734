import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OperationAborted } from '../../src/db/database.ts';
import { blockWrites } from '../harness/block-writes.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { eventually } from '../harness/eventually.ts';
import { nextRequest } from '../harness/next-request.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';

describe('Aborted requests', () => {
  let server: TestServer;
  let admin: TestUser;
  let organizationId: number;
  beforeAll(async () => (server = await useSharedServer()));
  beforeEach(async () => {
    const fixtures = createFixtures(server);
    const { id, uid } = await fixtures.organization();
    organizationId = id;
    admin = await fixtures.user({ organization: uid, admin: true });
  });
  afterAll(() => server.close());

  const create = (origin: string, name: string, headers: Record<string, string>, signal?: AbortSignal) =>
    fetch(`${origin}/v1/assessment_groups`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${admin.token}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ name }),
      ...(signal === undefined ? {} : { signal }),
    });
  const names = async () => {
    const rows = await server.context.db.read
      .selectFrom('assessment_groups')
      .select('name')
      .where('organization_id', '=', organizationId)
      .execute();
    return rows.map(({ name }) => name);
  };

  it.each([
    ['without an idempotency key', {}],
    ['with an idempotency key', { 'idempotency-key': 'aborted-1' }],
  ])('write nothing after the client disconnects, %s', async (_how, headers) => {
    // Caches the credential, so that its last use is not written.
    await create(server.origin, 'first', {});
    const release = await blockWrites(server);
    const { db } = server.context;
    const waiting = db.statistics().waiting;
    const abort = new AbortController();
    const arriving = nextRequest();
    const response = create(server.origin, 'aborted', headers, abort.signal).catch(() => 'aborted');
    const { socket } = await arriving;
    const closed = once(socket, 'close');
    await eventually(() => expect(db.statistics().waiting).toBeGreaterThan(waiting));
    abort.abort();
    expect(await response).toBe('aborted');
    await closed;
    await release();
    await create(server.origin, 'last', {});
    expect(await names()).toEqual(['first', 'last']);
  });

  describe('past the deadline', () => {
    let hasty: TestServer;
    beforeEach(async () => (hasty = await startSecondServer(server, { requestTimeout: 1_000 })));
    afterEach(() => hasty.close());

    it('return 503 and write nothing', async () => {
      await create(server.origin, 'first', {});
      const release = await blockWrites(hasty);
      expect((await create(hasty.origin, 'late', {})).status).toBe(503);
      await release().catch(() => undefined);
      // The queued writes precede it.
      await create(server.origin, 'last', {});
      expect(await names()).toEqual(['first', 'last']);
    });
  });
});

describe('Database.abortableRead', () => {
  let server: TestServer;
  beforeAll(async () => (server = await useSharedServer()));
  afterAll(() => server.close());

  it('starts no statement after its signal is aborted', async () => {
    const abort = new AbortController();
    const reader = server.context.db.abortableRead(abort.signal);
    const query = () => reader.selectFrom('organizations').select('id').execute();
    await query();
    abort.abort();
    await expect(query()).rejects.toThrow(OperationAborted);
  });
});
