import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { acquireSlot } from '../../src/http/account-limits.ts';
import { deleteUnused } from '../../src/files/file-storage.ts';
import { formOf } from '../harness/imports.ts';
import { nextRequest } from '../harness/next-request.ts';
import { startSecondServer, startTestServer, type TestServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
const DAY = 86_400_000;
const MAX_SIZE = 100_000;
const MAX_ATTACHMENTS = 12;

let now = START;
let server: TestServer;
let fixtures: ReturnType<typeof createFixtures>;
let organization: { id: number; uid: string };
let assessment: { uid: string };
let member: TestUser;
let otherUser: TestUser;
let admin: TestUser;
let outsider: TestUser;
let vulnerability: { id: number };

beforeAll(async () => {
  const limits = { maxAttachmentSize: MAX_SIZE, maxAttachments: MAX_ATTACHMENTS };
  server = await startTestServer(limits, () => now);
  fixtures = createFixtures(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  now = START;
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    assessment = await batch.assessment(organization.uid);
    member = await batch.user({ organization: organization.uid });
    otherUser = await batch.user({ organization: organization.uid });
    admin = await batch.user({ organization: organization.uid, admin: true });
    outsider = await batch.user({ organization: organization.uid });
    await batch.access(assessment.uid, member.id);
    await batch.access(assessment.uid, otherUser.id);
    vulnerability = await batch.vulnerability(assessment.uid);
  });
  now = START + 60_000;
});

type Content = string | Buffer<ArrayBuffer>;
type File = readonly [name: string, content: Content, type?: string, part?: string];
const pathOf = (id: number | string = '', vulnerabilityId: number | string = vulnerability.id) =>
  `/v1/vulnerabilities/${vulnerabilityId}/attachments${id === '' ? '' : `/${id}`}`;

async function upload(
  files: readonly File[],
  { token } = member,
  { headers = {}, path = pathOf() }: { headers?: Record<string, string>; path?: string } = {},
) {
  const form = new FormData();
  for (const [name, content, type, part = 'file'] of files)
    form.append(part, new Blob([content], type === undefined ? {} : { type }), name);
  const body = new Response(form);
  return server.request('POST', path, {
    token,
    headers: { 'content-type': body.headers.get('content-type') ?? '', ...headers },
    bytes: Buffer.from(await body.arrayBuffer()),
  });
}
const download = (
  id: number | string,
  headers: Record<string, string> = {},
  { token } = member,
  method = 'GET',
) => fetch(server.origin + pathOf(id), { method, headers: { authorization: `Bearer ${token}`, ...headers } });
const remove = (id: number, { token } = member, headers: Record<string, string> = {}) =>
  server.request('DELETE', pathOf(id), { token, headers });
const sha256 = (content: Content) => createHash('sha256').update(content).digest('hex');
const stored = async () => {
  const { db } = server.context;
  const files = await db.read
    .selectFrom('files')
    .selectAll()
    .where('organization_id', '=', organization.id)
    .execute();
  return files.map((file) => file.sha256).sort();
};
const blobs = () => server.context.db.read.selectFrom('blobs').select(['key', 'state']).execute();
const waiting = async () => (await blobs()).filter(({ state }) => state !== 1);
const attached = async () => {
  const { body } = await server.request('PATCH', `/v1/vulnerabilities/${vulnerability.id}`, {
    token: member.token,
    body: {},
  });
  return body.attachments.map(({ filename }: { filename: string }) => filename);
};

describe('Operation 21: attach files to a vulnerability', () => {
  it('returns 201 with the attachments in request order', async () => {
    const picture = randomBytes(70_000);
    const response = await upload([
      ['request.http', 'GET / HTTP/1.1\r\n\r\n', 'message/http'],
      ['Überblick 報告.png', picture, 'image/png'],
    ]);
    const user = { id: member.id, name: null, email: member.email };
    const [first, second] = response.body;
    const common = {
      by_staff: false,
      created_at: '2026-11-21T10:31:00.000Z',
      user,
    };
    expect([response.status, response.body]).toEqual([
      201,
      [
        {
          ...common,
          id: first.id,
          filename: 'request.http',
          content_type: 'message/http',
          file_size: 18,
          sha256: sha256('GET / HTTP/1.1\r\n\r\n'),
          url: `${server.origin}${pathOf(first.id)}`,
        },
        {
          ...common,
          id: second.id,
          filename: 'Überblick 報告.png',
          content_type: 'image/png',
          file_size: 70_000,
          sha256: sha256(picture),
          url: `${server.origin}${pathOf(second.id)}`,
        },
      ],
    ]);
    expect([response.headers.get('etag'), response.headers.get('location')]).toEqual([null, null]);
    const content = await download(second.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(picture)).toBe(true);
    expect(await attached()).toEqual(['request.http', 'Überblick 報告.png']);
    const events = (await fixtures.auditEvents())
      .filter(({ action }) => action === 'attachment.create')
      .slice(-2);
    expect(events.map(({ object_id: id, after }) => [id, JSON.parse(after ?? '')])).toEqual([
      [
        String(first.id),
        {
          vulnerability: vulnerability.id,
          filename: 'request.http',
          content_type: 'message/http',
          file_size: 18,
          sha256: first.sha256,
        },
      ],
      [String(second.id), expect.objectContaining({ filename: 'Überblick 報告.png' })],
    ]);
    const timeline = await server.request('GET', `/v1/vulnerabilities/${vulnerability.id}/timeline`, {
      token: member.token,
    });
    expect(timeline.body[1]).toMatchObject({
      kind: 'attachment',
      before: null,
      after: {
        attachments: [
          { id: first.id, filename: 'request.http', file_size: 18 },
          { id: second.id, filename: 'Überblick 報告.png', file_size: 70_000 },
        ],
      },
    });
  });

  it('stores identical files once per organization, never across organizations', async () => {
    const content = randomBytes(1_000);
    const before = (await blobs()).length;
    const [attachment] = (
      await upload([
        ['a', content],
        ['b', content],
      ])
    ).body;
    const otherVulnerability = await fixtures.vulnerability(assessment.uid);
    await upload([['c', content]], member, { path: pathOf('', otherVulnerability.id) });
    expect(await stored()).toEqual([sha256(content)]);
    expect((await blobs()).length).toBe(before + 1);
    const otherOrganization = await fixtures.organization();
    const foreignAssessment = await fixtures.assessment(otherOrganization.uid);
    const foreignVulnerability = await fixtures.vulnerability(foreignAssessment.uid);
    const { token } = await fixtures.user();
    await upload([['d', content]], { ...member, token }, { path: pathOf('', foreignVulnerability.id) });
    expect((await blobs()).length).toBe(before + 2);
    expect(Buffer.from(await (await download(attachment.id)).arrayBuffer()).equals(content)).toBe(true);
  });

  it('stores a file once when identical files are uploaded concurrently', async () => {
    const content = randomBytes(5_000);
    const uploaders = [member, otherUser, member, otherUser, member, otherUser];
    const responses = await Promise.all(uploaders.map((user) => upload([['same', content]], user)));
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(await stored()).toEqual([sha256(content)]);
    expect(await waiting()).toEqual([]);
    const last = responses.at(-1)?.body[0].id;
    expect(Buffer.from(await (await download(last)).arrayBuffer()).equals(content)).toBe(true);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\proof.txt', 'proof.txt'],
    ['..', 'file'],
    [' .. ', 'file'],
    ['a\u202egnp.exe', 'agnp.exe'],
    ['tab\there', 'tabhere'],
    [`${'x'.repeat(300)}.png`, `${'x'.repeat(251)}.png`],
  ])('sanitizes the name %j', async (name, clean) => {
    const response = await upload([[name, 'x']]);
    expect([response.status, response.body[0]?.filename]).toEqual([201, clean]);
  });

  it.each([
    ['text/html; charset=utf-8', 'text/html'],
    ['IMAGE/PNG', 'image/png'],
    ['nonsense', 'application/octet-stream'],
  ])('sanitizes the type %j', async (type, clean) => {
    const boundary = 'x';
    const body = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: ${type}\r\n\r\nhi\r\n--x--\r\n`;
    const response = await server.request('POST', pathOf(), {
      token: member.token,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      raw: body,
    });
    expect([response.status, response.body[0]?.content_type]).toEqual([201, clean]);
  });

  it('ignores other parts and accepts an empty file', async () => {
    const response = await upload([
      ['note', 'ignored', 'text/plain', 'note'],
      ['empty.txt', ''],
      ['else', randomBytes(9_000), 'image/png', 'picture'],
    ]);
    expect(response.body).toMatchObject([{ filename: 'empty.txt', file_size: 0, sha256: sha256('') }]);
    const content = await download(response.body[0].id);
    expect([content.status, await content.text(), content.headers.get('content-length')]).toEqual([
      200,
      '',
      '0',
    ]);
  });

  it.each([
    ['no part', []],
    ['no part named file', [['a', 'x', 'text/plain', 'files']] as File[]],
  ])('returns 422 with %s', async (_what, files) => {
    const response = await upload(files);
    expect(response).toMatchObject({
      status: 422,
      body: { failedValidation: [{ property: 'file', message: 'is required' }] },
    });
  });

  it('returns 422 without a body', async () => {
    expect((await server.request('POST', pathOf(), { token: member.token })).status).toBe(422);
  });

  it('stores all files or none, and returns 413 for a large file and for too many files', async () => {
    const largeUpload = await upload([
      ['fits', randomBytes(MAX_SIZE)],
      ['does not', randomBytes(MAX_SIZE + 1)],
    ]);
    expect([largeUpload.status, largeUpload.body.type]).toEqual([
      413,
      expect.stringMatching(/body-too-large$/),
    ]);
    const manyFiles = await upload(
      Array.from({ length: 11 }, (_, number): File => [`${number}`, randomBytes(10)]),
    );
    expect([manyFiles.status, manyFiles.body]).toEqual([
      413,
      expect.objectContaining({ maxBatchSize: 10, batchSize: 11 }),
    ]);
    expect(await attached()).toEqual([]);
    expect(await stored()).toEqual([]);
    expect(await waiting()).toEqual([]);
    const tenFiles = Array.from({ length: 10 }, (_, number): File => [`${number}`, `${number}`]);
    expect((await upload(tenFiles)).status).toBe(201);
    expect(await attached()).toHaveLength(10);
    const over = await upload(tenFiles.slice(0, 3));
    expect(over).toMatchObject({ status: 422, body: { failedValidation: [{ property: 'file' }] } });
    expect((await upload(tenFiles.slice(0, 2))).status).toBe(201);
    expect(await attached()).toHaveLength(MAX_ATTACHMENTS);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['another boundary', 'multipart/form-data; boundary=y', '--x\r\n'],
    [
      'no end',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nhi',
    ],
    ['no content', 'multipart/form-data; boundary=x', ''],
  ])('returns 400 for a body with %s', async (_what, type, raw) => {
    const response = await server.request('POST', pathOf(), {
      token: member.token,
      headers: { 'content-type': type },
      raw,
    });
    expect([response.status, response.body.type]).toEqual([400, expect.stringMatching(/invalid-request$/)]);
    expect(await waiting()).toEqual([]);
  });

  it('returns 415 for JSON', async () => {
    const response = await server.request('POST', pathOf(), { token: member.token, body: { file: 'x' } });
    expect(response.status).toBe(415);
  });

  it('removes the uploaded parts when the client disconnects', async () => {
    const { port } = new URL(server.origin);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    socket.write(
      `POST ${pathOf()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${member.token}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 50000\r\n\r\n${head}${'y'.repeat(20_000)}`,
    );
    await expect.poll(async () => (await waiting()).length).toBe(1);
    socket.destroy();
    await expect.poll(async () => (await waiting()).length).toBe(0);
    expect(await attached()).toEqual([]);
  });

  async function beginUpload(to: TestServer, path = pathOf(), { token } = member, headers = '') {
    const arriving = nextRequest();
    const socket = connect(Number(new URL(to.origin).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let response = '';
    socket.on('data', (chunk: Buffer) => (response += chunk.toString()));
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`,
    );
    const write = (text: string) =>
      void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
    write('--x\r\nContent-Disposition: form-data; name="file"; filename="slow"\r\n\r\nbegin');
    const request = await arriving;
    return {
      write,
      end: () => {
        write('\r\n--x--\r\n');
        socket.write('0\r\n\r\n');
      },
      close: () => socket.destroy(),
      /** Resolves once the server has stored this many bytes, or has answered. */
      stored: async (bytes: number) => {
        while (response === '' && (request.socket.bytesRead < bytes || request.isPaused()))
          await new Promise((resolve) => setImmediate(resolve));
      },
      isPaused: () => request.isPaused(),
      status: () => Number(response.slice(9, 12)),
      response: () => response,
    };
  }

  it('returns 408 when less than 1 MiB arrives in the upload timeout, and extends the request timeout until then', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const limits = { requestTimeout: 2_000, uploadTimeout: 10_000, maxAttachmentSize: 8 * 1024 ** 2 };
    const hasty = await startSecondServer(server, limits);
    onTestFinished(async () => {
      await hasty.close();
      vi.useRealTimers();
    });
    const fast = await beginUpload(hasty);
    const slow = await beginUpload(hasty);
    const chunk = 'y'.repeat(1.5 * 1024 ** 2);
    for (let round = 1; round <= 3; round += 1) {
      fast.write(chunk);
      slow.write('z');
      await fast.stored(round * chunk.length);
      await new Promise((resolve) => setImmediate(resolve));
      for (let step = 0; step < 7; step += 1) vi.advanceTimersByTime(1_000);
    }
    await expect.poll(slow.status).toBe(408);
    expect(slow.response()).toContain('/request-timeout"');
    fast.end();
    await expect.poll(fast.status).toBe(201);
    await expect.poll(async () => (await waiting()).length).toBe(0);
  });

  it('extends the request timeout while the store is slower than the client', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const hasty = await startSecondServer(server, {
      requestTimeout: 2_000,
      maxAttachmentSize: 8 * 1024 ** 2,
    });
    onTestFinished(async () => {
      await hasty.close();
      vi.useRealTimers();
    });
    const { files } = server.context;
    let arrived = 0;
    let isPaused = () => false;
    hasty.context.files = Object.assign(Object.create(files) as typeof files, {
      write: (key: string, content: AsyncIterable<Uint8Array>) =>
        files.write(
          key,
          (async function* () {
            for await (const chunk of content) {
              // The client sends more than is buffered, so the body is paused soon, except at its end.
              for (let attempt = 0; attempt < 100 && !isPaused(); attempt += 1)
                await new Promise((resolve) => setImmediate(resolve));
              if (isPaused()) vi.advanceTimersByTime(1_500);
              arrived += chunk.length;
              yield chunk;
            }
          })(),
        ),
    });
    const slow = await beginUpload(hasty);
    ({ isPaused } = slow);
    slow.write('y'.repeat(1024 ** 2));
    slow.end();
    await expect.poll(slow.status).toBe(201);
    expect(arrived).toBeGreaterThan(1024 ** 2);
  });

  it('stores nothing of an upload without access, also with an Idempotency-Key', async () => {
    const denied = await beginUpload(server, pathOf(), outsider, 'Idempotency-Key: one\r\n');
    await expect.poll(denied.status).toBe(404);
    const reader = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment.uid, reader.id);
    await server.context.db.write((tx) =>
      tx
        .updateTable('assessment_access')
        .set({ role: 'assessment_read_only' })
        .where('user_id', '=', reader.id)
        .execute(),
    );
    const refused = await beginUpload(server, pathOf(), reader, 'Idempotency-Key: one\r\n');
    await expect.poll(refused.status).toBe(403);
    expect(await waiting()).toEqual([]);
  });

  it('ends an upload whose credential is revoked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const sibling = await startSecondServer(server, {});
    onTestFinished(async () => {
      await sibling.close();
      vi.useRealTimers();
    });
    const user = await fixtures.user({ organization: organization.uid, admin: true });
    const running = await beginUpload(sibling, pathOf(), user);
    await expect.poll(async () => (await waiting()).length).toBe(1);
    await server.request('DELETE', `/v1/users/${user.id}`, { token: admin.token });
    vi.advanceTimersByTime(11_000);
    await expect.poll(running.status).toBe(401);
    await expect.poll(async () => (await waiting()).length).toBe(0);
  });

  it('returns 429 to a fifth upload of an account, imports included', async () => {
    const running = [];
    for (let count = 0; count < 4; count += 1) running.push(await beginUpload(server));
    await expect.poll(async () => (await waiting()).length).toBe(4);
    const fifth = await upload([['a', 'x']]);
    expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '5']);
    const report = await server.request('POST', '/v1/imports', {
      token: member.token,
      ...formOf([['file', '{}', 'a.json']]),
    });
    expect(report.status).toBe(429);
    expect((await upload([['a', 'x']], otherUser)).status).toBe(201);
    running.pop()?.close();
    await expect.poll(async () => (await upload([['a', 'x']])).status).toBe(201);
    for (const one of running) one.close();
    await expect.poll(async () => (await waiting()).length).toBe(0);
  });

  it.each(INVALID_IDS)('returns 404 for the id %s', async (id) => {
    const responses = await Promise.all([
      upload([['a', 'x']], member, { path: pathOf('', id) }),
      server.request('GET', pathOf(id), { token: member.token }),
      server.request('DELETE', pathOf(id), { token: member.token }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it('returns 404 without access to the vulnerability, as do operations 22 and 23', async () => {
    const [{ id }] = (await upload([['a', 'x']])).body;
    const responses = [
      await upload([['b', 'x']], outsider),
      await download(id, {}, outsider),
      await remove(id, outsider),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  describe('Idempotency-Key', () => {
    const key = { 'idempotency-key': 'one' };
    const file: File = ['a.txt', 'content', 'text/plain'];

    it('attaches once per key', async () => {
      const first = await upload([file], member, { headers: key });
      const repeated = await upload([file], member, { headers: key });
      expect([repeated.status, repeated.text]).toEqual([201, first.text]);
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
      expect(await attached()).toEqual(['a.txt']);
      expect(await waiting()).toEqual([]);
    });

    it('returns the first response again if it took the last places', async () => {
      const ten = Array.from({ length: 10 }, (_, number): File => [`${number}`, `${number}`]);
      await upload(ten);
      const first = await upload(ten.slice(0, 2), member, { headers: key });
      const repeated = await upload(ten.slice(0, 2), member, { headers: key });
      expect([repeated.status, repeated.text]).toEqual([201, first.text]);
      expect(await attached()).toHaveLength(MAX_ATTACHMENTS);
    });

    it.each<[string, File[]]>([
      ['content', [['a.txt', 'other', 'text/plain']]],
      ['name', [['b.txt', 'content', 'text/plain']]],
      ['type', [['a.txt', 'content', 'text/html']]],
      ['number of parts', [file, ['n', 'x', 'text/plain', 'note']]],
    ])('returns 422 when the key is reused with another %s', async (_what, files) => {
      await upload([file], member, { headers: key });
      expect((await upload(files, member, { headers: key })).status).toBe(422);
      expect(await attached()).toEqual(['a.txt']);
      expect(await waiting()).toEqual([]);
    });

    it('does not store an error: a repeated request runs again', async () => {
      expect((await upload([['a', randomBytes(MAX_SIZE + 1)]], member, { headers: key })).status).toBe(413);
      expect((await upload([file], member, { headers: key })).status).toBe(201);
    });
  });
});

describe('Operation 22: download an attachment', () => {
  const content = randomBytes(90_000);
  let id: number;
  beforeEach(async () => {
    [{ id }] = (await upload([['Bericht (ä) 100%.html', content, 'text/html']])).body;
  });

  it('sends Content-Disposition: attachment and a Content-Security-Policy that sandboxes the content', async () => {
    const response = await download(id);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'content-disposition':
        'attachment; filename="Bericht (a) 100_.html"; filename*=UTF-8\'\'Bericht%20%28%C3%A4%29%20100%25.html',
      'content-length': '90000',
      'content-security-policy': 'sandbox',
      'content-type': 'text/html',
      etag: `"1.${sha256(content)}"`,
      'x-content-type-options': 'nosniff',
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });

  it('returns 429 to an account with 32 downloads running, and opens no file', async () => {
    const { context } = server;
    const account = { userId: member.id, organizationId: organization.id };
    const releases = Array.from({ length: 32 }, () => acquireSlot(context, account, 'attachment'));
    const read = vi.spyOn(context.files, 'read');
    const { status, headers } = await server.request('GET', pathOf(id), { token: member.token });
    expect([status, headers.get('retry-after'), headers.get('content-disposition')]).toEqual([
      429,
      '5',
      null,
    ]);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    for (const release of releases) release();
    expect((await download(id)).status).toBe(200);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=89990-', 89_990, 89_999],
    ['bytes=-5', 89_995, 89_999],
    ['bytes=-999999', 0, 89_999],
    ['bytes=80000-999999', 80_000, 89_999],
  ])('returns the range %s', async (range, start, end) => {
    const response = await download(id, { range });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/90000`,
    ]);
    expect(Buffer.from(await response.arrayBuffer()).equals(content.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=90000-', 'bytes=90000-90001', 'bytes=-0'])(
    'returns 416 for the range %s',
    async (range) => {
      const response = await server.request('GET', pathOf(id), { token: member.token, headers: { range } });
      expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */90000']);
    },
  );

  it.each(['bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=a-', ''])(
    'ignores the range %j',
    async (range) => {
      const response = await download(id, { range });
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 90_000]);
    },
  );

  it('supports If-Range and If-None-Match', async () => {
    const etag = `"1.${sha256(content)}"`;
    const statusOf = async (headers: Record<string, string>) => {
      const response = await download(id, headers);
      await response.arrayBuffer();
      return response.status;
    };
    expect(await statusOf({ range: 'bytes=0-1', 'if-range': etag })).toBe(206);
    expect(await statusOf({ range: 'bytes=0-1', 'if-range': '"1.other"' })).toBe(200);
    expect(await statusOf({ 'if-none-match': etag })).toBe(304);
    expect(await statusOf({ 'if-none-match': `"x", W/${etag}` })).toBe(304);
    expect(await statusOf({ 'if-none-match': '"1.other"' })).toBe(200);
  });

  it('returns the headers without content for HEAD', async () => {
    const response = await download(id, {}, member, 'HEAD');
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      '90000',
      '',
    ]);
  });

  it('ignores Range for HEAD (RFC 9110, section 14.2)', async () => {
    const response = await download(id, { range: 'bytes=0-1' }, member, 'HEAD');
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '90000']);
  });

  it('returns 404 under the id of another vulnerability', async () => {
    const otherVulnerability = await fixtures.vulnerability(assessment.uid);
    const { token } = admin;
    const get = await server.request('GET', pathOf(id, otherVulnerability.id), { token });
    const removal = await server.request('DELETE', pathOf(id, otherVulnerability.id), { token });
    expect([get.status, removal.status]).toEqual([404, 404]);
  });
});

describe('Operation 23: delete an attachment', () => {
  it('returns 403 to users other than the uploader, admins and staff', async () => {
    const [first, second, third] = (
      await upload([
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ])
    ).body;
    expect((await remove(first.id, otherUser)).status).toBe(403);
    for (const [file, user] of [
      [first, member],
      [second, admin],
      [third, await fixtures.user()],
    ]) {
      expect((await remove(file.id, user)).status).toBe(204);
      expect((await remove(file.id, user)).status).toBe(404);
      expect((await download(file.id)).status).toBe(404);
    }
    expect(await attached()).toEqual([]);
    const event = (await fixtures.auditEvents()).at(-1);
    expect([event?.action, event?.after]).toEqual(['attachment.delete', null]);
    expect(JSON.parse(event?.before ?? '')).toMatchObject({ filename: 'c', sha256: sha256('3') });
  });

  it('supports If-Match with the ETag of the download', async () => {
    const [{ id }] = (await upload([['a', 'x']])).body;
    expect((await remove(id, member, { 'if-match': '"2.x"' })).status).toBe(412);
    expect((await remove(id, otherUser, { 'if-match': '"2.x"' })).status).toBe(403);
    const tag = (await download(id)).headers.get('etag') ?? '';
    expect((await remove(id, member, { 'if-match': tag })).status).toBe(204);
  });

  it('deletes the content with the last attachment that uses it', async () => {
    const content = randomBytes(2_000);
    const [firstRow, secondRow] = (
      await upload([
        ['a', content],
        ['b', content],
      ])
    ).body;
    await remove(firstRow.id);
    const remaining = await server.context.db.read
      .selectFrom('files')
      .select('blob_key')
      .where('organization_id', '=', organization.id)
      .executeTakeFirstOrThrow();
    expect(await stored()).toEqual([sha256(content)]);
    expect((await download(secondRow.id)).status).toBe(200);
    await remove(secondRow.id);
    expect(await stored()).toEqual([]);
    const deletion = (await waiting()).find(({ key }) => key === remaining.blob_key);
    expect(deletion).toBeDefined();
    expect(await deleteUnused(server.context)).toBe(0);
    now += DAY + 1;
    expect(await deleteUnused(server.context)).toBeGreaterThan(0);
    expect(await waiting()).toEqual([]);
    const chunks = server.context.files.read(deletion?.key ?? '', 0, 1_999);
    const first = chunks[Symbol.asyncIterator]();
    await expect(first.next()).rejects.toThrow();
    // The same file can be uploaded again.
    now = START;
    const [sameContent] = (await upload([['a', content]])).body;
    expect(Buffer.from(await (await download(sameContent.id)).arrayBuffer()).equals(content)).toBe(true);
  });
});

describe('Operation 20: delete a vulnerability', () => {
  it('deletes the contents of its attachments unless others use them', async () => {
    const [ownContent, sharedContent] = [randomBytes(1_000), randomBytes(1_000)];
    await upload([
      ['own', ownContent],
      ['again', ownContent],
      ['shared', sharedContent],
    ]);
    const otherVulnerability = await fixtures.vulnerability(assessment.uid);
    const [remaining] = (
      await upload([['shared', sharedContent]], member, { path: pathOf('', otherVulnerability.id) })
    ).body;
    const keyOf = async (content: Buffer) =>
      server.context.db.read
        .selectFrom('files')
        .select('blob_key')
        .where('organization_id', '=', organization.id)
        .where('sha256', '=', createHash('sha256').update(content).digest('hex'))
        .executeTakeFirst();
    const key = (await keyOf(ownContent))?.blob_key ?? '';
    const path = `/v1/vulnerabilities/${vulnerability.id}`;
    expect((await server.request('DELETE', path, { token: admin.token })).status).toBe(204);
    expect([await keyOf(ownContent), await stored()]).toEqual([undefined, [sha256(sharedContent)]]);
    expect((await waiting()).map((blob) => blob.key)).toContain(key);
    now += DAY + 1;
    await deleteUnused(server.context);
    expect((await blobs()).map((blob) => blob.key)).not.toContain(key);
    const chunks = server.context.files.read(key, 0, 999)[Symbol.asyncIterator]();
    await expect(chunks.next()).rejects.toThrow();
    now = START + 60_000;
    vulnerability = otherVulnerability;
    const content = await (await download(remaining.id)).arrayBuffer();
    expect(Buffer.from(content).equals(sharedContent)).toBe(true);
  });
});

describe('Operations 15 and 16: attachments', () => {
  it('return attachments as operation 21 does', async () => {
    const { body: attachments } = await upload([['told.txt', 'as it was', 'text/plain']]);
    const { token } = member;
    const { body } = await server.request('GET', `/v1/vulnerabilities/${vulnerability.id}`, { token });
    const { body: rows } = await server.request('GET', `/v1/vulnerabilities?filter[id]=${vulnerability.id}`, {
      token,
    });
    expect(body.attachments).toContainEqual(attachments[0]);
    expect(rows[0].attachments).toContainEqual(attachments[0]);
  });
});
