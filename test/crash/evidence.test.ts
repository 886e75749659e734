import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { deleteUnusedFilesJob } from '../../src/jobs/start-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { engine, send, type TestResponse } from '../harness/server.ts';
import { Semaphore } from '../../src/lib/semaphore.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { type ServerRunner, createServerRunner } from './killed-server.ts';

const WRITERS = 6;
/** The server is killed after this many acknowledged writes, while others are running. */
const ACKNOWLEDGED = 30;
const DAY = 86_400_000;
/** More than a chunk of any store. */
const LARGE = 300 * 1024;

interface Sent {
  path: string;
  key: string;
  headers: Record<string, string>;
  bytes: Buffer<ArrayBuffer>;
  /** The response before the server was killed. */
  acknowledged?: string;
}

interface Finding {
  title: string;
  content: Buffer;
  report: Sent;
  upload?: Sent;
}

let database: TestDatabase;
let servers: ServerRunner;
/** The store of this process, over the same database. */
let context: Context;
let assessment: string;
let token: string;
let s3: S3rver | undefined;

let store = '';

beforeEach(async () => {
  // SIGKILL loses no written data, so this database need not be on disk.
  database = await createTestDatabase();
});
afterEach(async () => {
  await servers.end();
  await context.db.close();
  await s3?.close();
  s3 = undefined;
  await database.drop();
});

async function open(name: string): Promise<void> {
  store = name;
  servers = createServerRunner(database, name === 's3' ? await startS3() : {});
  context = await openContext(loadConfig({}, servers.environment), { write: () => undefined });
  const fixtures = createFixtures({ context });
  const { uid } = await fixtures.organization();
  assessment = (await fixtures.assessment(uid)).uid;
  ({ token } = await fixtures.user({ organization: uid, admin: true }));
}

async function startS3(): Promise<Record<string, string>> {
  s3 = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(database.dataDirectory, 's3'),
    configureBuckets: [{ name: 'evidence', configs: [] }],
  });
  const { port } = await s3.run();
  return {
    ASSAY_ATTACHMENTS: 's3://evidence/kept',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
}

/** Returns the keys of complete and incomplete files in the store, without the product's code. */
async function keysStored(): Promise<string[]> {
  if (store === 'database') {
    const chunks = await context.db.read.selectFrom('blob_chunks').select('key').distinct().execute();
    return chunks.map(({ key }) => key).sort();
  }
  const folder = join(database.dataDirectory, store === 's3' ? 's3/evidence/kept' : 'attachments');
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return [
    ...new Set(names.flatMap((name) => /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(name) ?? [])),
  ].sort();
}
const blobs = async () =>
  (await context.db.read.selectFrom('blobs').select('key').execute()).map(({ key }) => key).sort();
const files = () => context.db.read.selectFrom('files').select(['sha256', 'blob_key as key']).execute();

function multipart(contents: readonly Buffer[]): Pick<Sent, 'headers' | 'bytes'> {
  const parts = contents.flatMap((content, number) => [
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="file"; filename="${number}"\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    bytes: Buffer.concat([...parts, Buffer.from('--x--\r\n')]),
  };
}

/** An account may have four uploads running, of which one is never finished. */
const uploads = new Semaphore({ permits: 3, createError: () => new Error('unreachable') });

function putFile(origin: string, { path, key, headers, bytes }: Sent): Promise<TestResponse> {
  const options = { token, headers: { ...headers, 'idempotency-key': key }, bytes };
  const sendOnce = () => send(origin, 'POST', path, options);
  return path.endsWith('/attachments') ? uploads.run(sendOnce) : sendOnce();
}

function findingOf(writer: number, number: number): Finding {
  const title = `finding-${writer}-${number}`;
  // Every other file is sent by all writers at the same time.
  const content = Buffer.alloc(20_000, number % 2 === 0 ? `shared ${number}` : title);
  const body = { assessment_id: assessment, title, severity: 'Low' };
  const bytes = Buffer.from(JSON.stringify(body));
  return { title, content, report: { path: '/v1/vulnerabilities', key: title, headers: {}, bytes } };
}

const uploadOf = (id: number, key: string, contents: readonly Buffer[]): Sent => ({
  path: `/v1/vulnerabilities/${id}/attachments`,
  key,
  ...multipart(contents),
});

async function beginUpload(
  origin: string,
  { path, key, headers, bytes }: Sent,
  until: number,
): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = { authorization: `Bearer ${token}`, ...headers, 'idempotency-key': key };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes.length}\r\n${lines.join('')}\r\n`,
  );
  socket.write(bytes.subarray(0, until));
  return socket;
}

/** One file store per engine; imports.test.ts uses an S3-compatible one. */
const STORES = engine() === 'sqlite' ? ['folder'] : ['database'];

describe.each(STORES)('A server that is killed while it stores evidence in its %s', (name) => {
  it('has all acknowledged files once, also after repeated requests, and deletes the others', async () => {
    await open(name);
    const findings: Finding[] = [];

    const killed = await servers.serve();
    // An upload without a row: its first file is stored completely, its second one half.
    const unfinished = findingOf(WRITERS, 1);
    findings.push(unfinished);
    const { body } = await putFile(killed.origin, unfinished.report);
    const [complete, halfSignedIn] = [Buffer.alloc(LARGE, 'complete'), Buffer.alloc(2 * LARGE, 'half')];
    unfinished.content = complete;
    unfinished.upload = uploadOf(body.id, `${unfinished.title}-evidence`, [complete, halfSignedIn]);
    const before = (await blobs()).length;
    const socket = await beginUpload(killed.origin, unfinished.upload, 2 * LARGE);
    await expect.poll(async () => (await blobs()).length).toBe(before + 2);

    let [acknowledged, interrupted] = [0, 0];
    const isAcknowledged = async (sent: Sent): Promise<TestResponse | undefined> => {
      const response = await putFile(killed.origin, sent).catch(() => undefined);
      if (response === undefined) interrupted += 1;
      if (response?.status !== 201) return undefined;
      sent.acknowledged = response.text;
      acknowledged += 1;
      if (acknowledged === ACKNOWLEDGED) void killed.kill();
      return response;
    };
    const write = async (writer: number): Promise<void> => {
      for (let number = 0; ; number += 1) {
        const finding = findingOf(writer, number);
        findings.push(finding);
        const reported = await isAcknowledged(finding.report);
        if (reported === undefined) return;
        finding.upload = uploadOf(reported.body.id, `${finding.title}-evidence`, [finding.content]);
        if ((await isAcknowledged(finding.upload)) === undefined) return;
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    socket.destroy();
    expect(interrupted).toBeGreaterThan(0);
    expect(acknowledged).toBeGreaterThanOrEqual(ACKNOWLEDGED);

    // The database knows all contents in the store, and each file has its content.
    const knownBlobs = new Set(await blobs());
    const stored = await keysStored();
    expect(stored.filter((key) => !knownBlobs.has(key))).toEqual([]);
    expect((await files()).filter(({ key }) => !stored.includes(key))).toEqual([]);

    const server = await servers.serve();
    const repeat = async (finding: Finding): Promise<void> => {
      const reported = await putFile(server.origin, finding.report);
      finding.upload ??= uploadOf(reported.body.id, `${finding.title}-evidence`, [finding.content]);
      const uploaded = await putFile(server.origin, finding.upload);
      for (const [sent, response] of [
        [finding.report, reported],
        [finding.upload, uploaded],
      ] as const) {
        expect([sent.key, response.status]).toEqual([sent.key, 201]);
        if (sent.acknowledged !== undefined) {
          expect(response.text).toBe(sent.acknowledged);
          expect(response.headers.get('idempotency-replayed')).toBe('true');
        }
        sent.acknowledged = response.text;
      }
    };
    for (let round = 0; round < 2; round += 1) await Promise.all(findings.map(repeat));

    const list = await send(server.origin, 'GET', '/v1/vulnerabilities?page[size]=200', { token });
    const rows = list.body as { id: number; title: string; attachments: { sha256: string; url: string }[] }[];
    expect(rows.map(({ title }) => title).sort()).toEqual(findings.map(({ title }) => title).sort());
    for (const { title, content, upload } of findings) {
      const attachments = rows.find((row) => row.title === title)?.attachments ?? [];
      expect(attachments).toHaveLength(upload === unfinished.upload ? 2 : 1);
      const [first] = attachments;
      expect(first?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
      const download = await fetch(server.origin + new URL(first?.url ?? '').pathname, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(Buffer.from(await download.arrayBuffer()).equals(content)).toBe(true);
    }
    await server.kill();

    // The job deletes the contents of interrupted requests, and no others.
    const announced = await blobs();
    expect(announced.length).toBeGreaterThan((await files()).length);
    context.clock = () => Date.now() + DAY + 60_000;
    await deleteUnusedFilesJob(context).run({ signal: new AbortController().signal } as never);
    const remaining = (await files()).map(({ key }) => key).sort();
    expect(await blobs()).toEqual(remaining);
    expect(await keysStored()).toEqual(remaining);
    expect(readdirSync(tmpdir()).filter((file) => announced.some((key) => file.includes(key)))).toEqual([]);
    expect(new Set((await files()).map(({ sha256 }) => sha256)).size).toBe(remaining.length);
  });
});
