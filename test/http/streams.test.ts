import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { negotiateMediaType } from '../../src/http/lists/download.ts';
import { toCsvLine } from '../../src/http/lists/csv.ts';
import { streamCsv, streamJson, streamNdjson, toJsonArray } from '../../src/http/lists/row-serializers.ts';
import { streamResponse, watchRights } from '../../src/http/streams.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { removeGroupMembers } from '../../src/domain/assessments/remove-group-members.ts';
import { updateAssessment } from '../../src/domain/assessments/update-assessment.ts';
import { updateUser } from '../../src/domain/users/update-user.ts';
import type { Transaction } from '../../src/db/database.ts';
import { yieldToEventLoop } from '../../src/lib/yield-to-event-loop.ts';
import { startSecondServer, type TestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { eventually } from '../harness/eventually.ts';

/** Streamed lists (docs/companions.md, section 1). */

const PATH = '/v1/audit_events';

describe('CSV', () => {
  it.each<[unknown[], string]>([
    [['plain', 1, true, null, undefined], 'plain,1,true,,'],
    [['a,b', 'say "hi"', 'two\nlines', 'two\r\nlines'], '"a,b","say ""hi""","two\nlines","two\r\nlines"'],
    [['=1+1', '+1', '-1', '@x', '\tx', '\rx', -1], `'=1+1,'+1,'-1,'@x,'\tx,"'\rx",'-1`],
    [['\uFF1D1', '\uFF0B1', '\uFF0D1', '\uFF20x', '\n=1'], `'\uFF1D1,'\uFF0B1,'\uFF0D1,'\uFF20x,"'\n=1"`],
    [['=a,"b"', '', ' =1', "'=1"], `"'=a,""b""",, =1,'=1`],
    [[['a', 'b'], { a: '=1' }, []], '"[""a"",""b""]","{""a"":""=1""}",[]'],
  ])('writes %j as %s', (values, line) => {
    expect(toCsvLine(values)).toBe(`${line}\r\n`);
  });

  it.each([
    [{ text: 'say "hi"\n\u0001\\', none: undefined, null: null, truth: true, numbers: [1, -2.5, 1e21] }],
    [{ '"name"': { deep: [[], {}, ['é', '\u{1f600}', '\ud800', '']] } }],
    [[{ id: 1, name: 'one' }, { id: 2 }, null, undefined]],
    [{}],
  ])('writes %j as JSON in a cell', (value) => {
    const json = JSON.stringify(value);
    const cell = json.includes('"') ? `"${json.replaceAll('"', '""')}"` : json;
    expect(toCsvLine([value, 0])).toBe(`${cell},0\r\n`);
  });
});

describe('Content negotiation', () => {
  const [json, csv, ndjson] = ['application/json', 'text/csv', 'application/x-ndjson'];
  it.each([
    [undefined, json],
    ['*/*', json],
    ['text/*', csv],
    ['text/csv', csv],
    ['TEXT/CSV', csv],
    ['text/csv; charset=utf-8', csv],
    ['application/x-ndjson;charset=UTF-8', ndjson],
    ['text/csv;charset=utf-16', json],
    ['application/x-ndjson', ndjson],
    ['text/csv, application/x-ndjson;q=0.9', csv],
    ['text/csv;q=0.5, application/x-ndjson;q=0.9', ndjson],
    ['text/csv;q=0.5, */*', json],
    ['text/csv;q=0', json],
    ['image/png', json],
    ['nonsense', json],
    ['', json],
  ])('selects for %j: %s', (accept, type) => {
    expect(negotiateMediaType(accept)).toBe(type);
  });
});

describe('Downloads', () => {
  let server: TestServer;
  let admin: TestUser;
  let otherUser: TestUser;
  beforeAll(async () => {
    server = await useSharedServer();
    const fixtures = createFixtures(server);
    const { id, uid } = await fixtures.organization();
    admin = await fixtures.user({ organization: uid, admin: true });
    otherUser = await fixtures.user({ organization: uid, admin: true });
    // More than the buffers between the server and a client that does not read.
    const after = JSON.stringify({ texts: Array.from({ length: 60 }, () => 'x'.repeat(4_000)) });
    const event = {
      at: 1,
      action: 'asset.criticality',
      object_type: 'organization',
      object_id: 'large',
      organization_id: id,
      actor_kind: 'system' as const,
      after,
    };
    for (let count = 0; count < 120; count += 20)
      await server.context.db.write((tx) =>
        tx
          .insertInto('audit_events')
          .values(Array.from({ length: 20 }, () => event))
          .execute(),
      );
  });
  afterAll(() => server.close());

  /** Starts a download without reading it. */
  function begin({ token }: TestUser): Promise<{ request: ClientRequest; response: IncomingMessage }> {
    return new Promise((resolve, reject) => {
      const request = get(
        `${server.origin}${PATH}`,
        { agent: false, headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' } },
        (response) => resolve({ request, response }),
      );
      request.once('error', reject);
    });
  }
  const statusOf = async (user: TestUser) => {
    const { request, response } = await begin(user);
    response.on('error', () => undefined);
    const { statusCode, headers } = response;
    request.destroy();
    return [statusCode, headers['retry-after'] !== undefined];
  };

  it('are limited to four at once per account until one ends', async () => {
    const running = [];
    for (let count = 0; count < 4; count += 1) running.push(await begin(admin));
    expect(running.map(({ response }) => response.statusCode)).toEqual([200, 200, 200, 200]);
    expect(await statusOf(admin)).toEqual([429, true]);
    expect(await statusOf(otherUser)).toEqual([200, false]);
    for (const { request, response } of running) {
      response.on('error', () => undefined);
      request.destroy();
    }
    await eventually(async () => expect((await statusOf(admin))[0]).toBe(200));
  });

  it('are complete and record one event each', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const { status, text } = await server.request('GET', `${PATH}?filter[object_id]=large`, {
      token: otherUser.token,
      headers,
    });
    expect([status, text.split('\n').length]).toEqual([200, 121]);
    const exports = await server.context.db.read
      .selectFrom('audit_events')
      .select('after')
      .where('action', '=', 'event.export')
      .where('user_id', '=', otherUser.id)
      .execute();
    expect(exports.filter(({ after }) => after?.includes('large') === true)).toHaveLength(1);
  });

  it('record no event for HEAD', async () => {
    const { status, headers, text } = await server.request('HEAD', `${PATH}?filter[object_id]=headers`, {
      token: otherUser.token,
      headers: { accept: 'text/csv' },
    });
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/csv; charset=utf-8', '']);
    expect(headers.get('content-disposition')).toBe('attachment; filename="audit-events.csv"');
    const exports = await server.context.db.read
      .selectFrom('audit_events')
      .select('after')
      .where('action', '=', 'event.export')
      .execute();
    expect(exports.filter(({ after }) => after?.includes('headers') === true)).toEqual([]);
  });

  it('of large rows are complete as a page, which is streamed', async () => {
    const { status, text } = await server.request('GET', `${PATH}?filter[object_id]=large&page[size]=50`, {
      token: otherUser.token,
    });
    expect([status, text.length > 12_000_000, (JSON.parse(text) as unknown[]).length]).toEqual([
      200,
      true,
      50,
    ]);
  });
});

describe('Large rows', () => {
  const items = Array.from({ length: 20 }, () => 'x'.repeat(100_000));
  const first = { items, rows: 20, bytes: 0, last: undefined, hasMore: false };
  const toRow = (text: string) => ({ text });
  // eslint-disable-next-line @typescript-eslint/require-await -- a list is read asynchronously
  async function* batches() {
    yield first;
  }

  /** Reads all chunks. No I/O is involved, so the event loop turns only where the serializer yields. */
  async function turnsOf(read: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let isReading = true;
    const count = (): void => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    setImmediate(count);
    await read();
    isReading = false;
    return turns;
  }
  const readAll = (chunks: AsyncIterable<string>) => async () => {
    const texts: string[] = [];
    for await (const text of chunks) texts.push(text);
    expect(texts.join('').length).toBeGreaterThan(2_000_000);
  };

  it.each([
    ['a page', readAll(streamJson(first, { async *[Symbol.asyncIterator]() {} }, toRow))],
    ['NDJSON', readAll(streamNdjson(batches(), toRow))],
    ['CSV', readAll(streamCsv(batches(), toRow, ['text']))],
    ['an array', () => toJsonArray(items, toRow)],
  ])('are serialized one in each turn of the event loop: %s', async (_name, read) => {
    expect(await turnsOf(read)).toBeGreaterThanOrEqual(20);
  });
});

describe('streamResponse', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => void vi.useRealTimers());

  /** Never ends by itself. */
  async function* endless() {
    for (;;) {
      await yieldToEventLoop();
      yield 'x'.repeat(1_000);
    }
  }
  const ended = (stream: ReturnType<typeof streamResponse>) =>
    new Promise<string>((resolve) => stream.once('error', (error) => resolve(error.message)));

  it('ends within 15 seconds after the credential is revoked, and then stops checking', async () => {
    let isAccepted = true;
    let checks = 0;
    const onEnd = vi.fn<() => void>();
    const isLive = async () => {
      checks += 1;
      return isAccepted;
    };
    const stream = streamResponse(endless(), { timeout: 60_000, isLive, onEnd });
    stream.resume();
    const end = ended(stream);
    await vi.advanceTimersByTimeAsync(30_000);
    expect([stream.destroyed, checks]).toEqual([false, 3]);
    isAccepted = false;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await end).toBe('The credential is no longer valid, or its user lost a role.');
    expect([stream.destroyed, onEnd.mock.calls.length]).toEqual([true, 1]);
    const before = checks;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(checks).toBe(before);
  });

  it('ends when no one reads, but not for a slow reader', async () => {
    const stream = streamResponse(endless(), { timeout: 30_000, isLive: async () => true });
    const end = ended(stream);
    for (let second = 0; second < 60; second += 1) {
      // A slow reader that takes everything available.
      while (stream.read() !== null);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(stream.destroyed).toBe(false);
    while (stream.readableLength < stream.readableHighWaterMark) await yieldToEventLoop();
    await vi.advanceTimersByTimeAsync(32_000);
    expect(await end).toBe('The client stopped reading the response.');
  });

  it('ends when its source stops, unless it may be idle', async () => {
    async function* stopped() {
      await new Promise<never>(() => undefined);
      yield 'never';
    }
    const options = { timeout: 30_000, isLive: async () => true };
    const stream = streamResponse(stopped(), options);
    const idle = streamResponse(stopped(), { ...options, mayBeIdle: true });
    const end = ended(stream);
    stream.resume();
    idle.resume();
    await vi.advanceTimersByTimeAsync(32_000);
    expect(await end).toBe('The source of the response did not continue in time.');
    expect(idle.destroyed).toBe(false);
    idle.destroy();
  });
});

describe('A stream', async () => {
  const server = await useSharedServer();
  const { db } = server.context;
  const change = (unit: (tx: Transaction, by: ReturnType<typeof cliChangeContext>) => Promise<unknown>) =>
    db.write((tx) => unit(tx, cliChangeContext(Date.now())));

  it.each<
    [string, (ids: { user: TestUser; group: number; assessment: string }) => Promise<unknown>, boolean]
  >([
    ['goes on while nothing changes', () => Promise.resolve(), true],
    [
      'goes on when its caller gets another role',
      async ({ user, assessment }) => {
        const { organization_uid: organization } = (
          await server.request('GET', `/v1/assessments/${assessment}`, { token: user.token })
        ).body;
        const fixtures = createFixtures(server);
        await fixtures.access((await fixtures.assessment(organization)).uid, user.id);
      },
      true,
    ],
    [
      'ends when its caller loses access by name',
      ({ user }) => change((tx, by) => updateUser(tx, by, user.id, { assessments: [] })),
      false,
    ],
    [
      'ends when its caller leaves a group',
      ({ user, group }) => change((tx, by) => removeGroupMembers(tx, by, group, [user.uid])),
      false,
    ],
    [
      'ends when its caller gets another role in a group',
      ({ user, group }) => createFixtures(server).member(group, user.uid, 'infra_admin'),
      false,
    ],
    [
      'ends when an assessment leaves a group',
      ({ assessment }) => change((tx, by) => updateAssessment(tx, by, assessment, { groupId: null })),
      false,
    ],
  ])('%s', async (_name, occur, goesOn) => {
    const fixtures = createFixtures(server);
    const { uid: organization } = await fixtures.organization();
    const user = await fixtures.user({ organization });
    const group = (await fixtures.group(organization)).id;
    await fixtures.member(group, user.uid, 'assessment_member');
    const assessment = (await fixtures.assessment(organization, undefined, group)).uid;
    await fixtures.access((await fixtures.assessment(organization)).uid, user.id);
    const mayGoOn = await watchRights(
      db.read,
      { staff: false, admin: false, userId: user.id },
      async () => true,
    );
    expect(await mayGoOn()).toBe(true);
    await occur({ user, group, assessment });
    expect(await mayGoOn()).toBe(goesOn);
  });
});

describe('Shutdown', () => {
  it('closes idle connections that browsers open ahead of requests', async () => {
    const closing = await startSecondServer(await useSharedServer(), {});
    const { hostname, port } = new URL(closing.origin);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // The server has accepted the connection, as it responds to a later one.
    expect((await closing.request('GET', '/healthz')).status).toBe(200);
    await Promise.all([once(socket, 'close'), closing.close()]);
  });
});
