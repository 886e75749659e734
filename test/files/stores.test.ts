import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAttachmentStore } from '../../src/config/attachment-store.ts';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { reserveBlob } from '../../src/domain/shared/files.ts';
import { DatabaseStore } from '../../src/files/database-store.ts';
import type { FileStore } from '../../src/files/file-store.ts';
import { openFileStore } from '../../src/files/file-storage.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

let folder: string;
let testDatabase: TestDatabase;
let db: Database;
let s3: S3rver;
let endpoint: string;
const stores: Record<string, FileStore> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-stores-'));
  testDatabase = await createTestDatabase();
  db = await openDatabase({ ...testDatabase, timeout: 30_000 });
  await db.migrate();
  s3 = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'evidence', configs: [] }],
  });
  const { port } = await s3.run();
  endpoint = `http://127.0.0.1:${port}`;
  const open = (settings: Record<string, string>) =>
    openFileStore(
      {
        attachments: parseAttachmentStore((name) => settings[name]),
        dataDirectory: testDatabase.dataDirectory,
      },
      db,
    );
  const s3Settings = { ...CREDENTIALS, AWS_ENDPOINT_URL: endpoint };
  Object.assign(stores, {
    folder: open({ ASSAY_ATTACHMENTS: `file://${folder}/shared%20folder` }),
    database: new DatabaseStore(db),
    s3: open({ ...s3Settings, ASSAY_ATTACHMENTS: 's3://evidence/a prefix/of two' }),
    's3 without a bucket': open({ ...s3Settings, ASSAY_ATTACHMENTS: 's3://nowhere' }),
    's3 that takes no key': open({
      ...s3Settings,
      ASSAY_ATTACHMENTS: 's3://evidence',
      AWS_ACCESS_KEY_ID: 'unknown',
    }),
    usual: open({}),
  });
});
afterAll(async () => {
  await s3.close();
  await db.close();
  await testDatabase.drop();
  await rm(folder, { recursive: true, force: true });
});

const storeOf = (name: string) => stores[name] as FileStore;
async function newKey(): Promise<string> {
  const key = randomUUID();
  await db.write((tx) => reserveBlob(tx, key, 1));
  return key;
}
async function* chunksOf(content: Buffer, size: number) {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
async function read(store: FileStore, key: string, start: number, end: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.read(key, start, end)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each(['folder', 'database', 's3', 'usual'])('Attachment store: %s', (name) => {
  it.each([1, 1_000, 262_143, 262_144, 262_145, 700_000])(
    'returns %i bytes and any range of them',
    async (size) => {
      const store = storeOf(name);
      const [key, content] = [await newKey(), randomBytes(size)];
      await store.write(key, chunksOf(content, 65_537));
      expect((await read(store, key, 0, size - 1)).equals(content)).toBe(true);
      for (const [start, end] of [
        [0, Math.min(1, size - 1)],
        [size - 1, size - 1],
        [Math.floor(size / 3), Math.floor((size * 2) / 3)],
        [Math.min(262_143, size - 1), Math.min(262_145, size - 1)],
      ] as const) {
        expect((await read(store, key, start, end)).equals(content.subarray(start, end + 1))).toBe(true);
      }
    },
  );

  it('accepts empty content', async () => {
    const key = await newKey();
    const write = storeOf(name).write(key, chunksOf(Buffer.alloc(0), 1));
    await expect(write).resolves.toBeUndefined();
  });

  it('deletes content, and ignores unknown keys', async () => {
    const store = storeOf(name);
    const key = await newKey();
    await store.write(key, chunksOf(Buffer.from('gone'), 4));
    await store.remove(key);
    await expect(read(store, key, 0, 3)).rejects.toThrow();
    await store.remove(key);
  });

  it('fails with its source and deletes what it stored', async () => {
    const store = storeOf(name);
    const key = await newKey();
    async function* broken() {
      yield randomBytes(300_000);
      throw new Error('It broke off.');
    }
    await expect(store.write(key, broken())).rejects.toThrow('It broke off.');
    await store.remove(key);
    await expect(read(store, key, 0, 0)).rejects.toThrow();
    const left = await readdir(folder, { recursive: true });
    expect(left.filter((file) => file.includes(key))).toEqual([]);
    expect((await readdir(tmpdir())).filter((file) => /^assay-[0-9a-f-]{36}$/.test(file))).toEqual([]);
  });

  it('uses constant memory', async () => {
    const store = storeOf(name);
    const key = await newKey();
    const chunk = randomBytes(64 * 1024);
    const size = 100 * chunk.length;
    async function* chunks() {
      for (let count = 0; count < 100; count += 1) yield chunk;
    }
    await store.write(key, chunks());
    let consumed = 0;
    let largest = 0;
    for await (const part of store.read(key, 0, size - 1)) {
      consumed += part.length;
      largest = Math.max(largest, part.length);
    }
    expect(consumed).toBe(size);
    expect(largest).toBeLessThanOrEqual(262_144);
  });
});

it('The folder store creates files that other users of the machine cannot read', async () => {
  const key = await newKey();
  await storeOf('folder').write(key, chunksOf(Buffer.from('secret'), 6));
  const path = join(folder, 'shared folder', key.slice(0, 2), key);
  expect((await stat(path)).mode & 0o077).toBe(0);
});

it.each(['s3 without a bucket', 's3 that takes no key'])(
  'fails with method and status of the response: %s',
  async (name) => {
    const key = await newKey();
    await expect(storeOf(name).write(key, chunksOf(Buffer.from('x'), 1))).rejects.toThrow(
      /responded to PUT .* with (403 InvalidAccessKeyId|404 NoSuchBucket)\.$/,
    );
  },
);

/** Starts an S3-compatible server and opens a store on it. */
async function openStoreAt(service: Server) {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const settings: Record<string, string> = {
    ...CREDENTIALS,
    ASSAY_ATTACHMENTS: 's3://evidence',
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}/`,
  };
  return openFileStore(
    { attachments: parseAttachmentStore((name) => settings[name]), dataDirectory: folder },
    db,
  );
}

it.each([
  ['InvalidAccessKeyId', 'tx0001-65a0-default', '403 InvalidAccessKeyId (request tx0001-65a0-default)'],
  ['S3RVER secret', 'Credential=S3RVER/us-east-1', '403'],
  ['x'.repeat(65), 'x'.repeat(65), '403'],
])('repeats only plain codes and ids of a response: %s', async (code, id, described) => {
  const refusing: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(403, 'S3RVER', { 'x-amz-request-id': id, 'x-secret': 'S3RVER' });
      response.end(`<Error><Code>${code}</Code><Message>The secret S3RVER is wrong.</Message></Error>`);
    });
  });
  const store = await openStoreAt(refusing);
  const key = randomUUID();
  const refusal = (operation: string) =>
    `The attachment store responded to ${operation} ${key} with ${described}.`;
  await expect(store.write(key, chunksOf(Buffer.from('x'), 1))).rejects.toThrow(new Error(refusal('PUT')));
  await expect(read(store, key, 0, 1)).rejects.toThrow(new Error(refusal('GET')));
  await expect(store.remove(key)).rejects.toThrow(new Error(refusal('DELETE')));
  refusing.close();
});

it('The S3 store retries while S3 is busy, and then fails as unavailable', async () => {
  let refusals = 2;
  let size = 0;
  const proxy: Server = createServer((request, response) => {
    size += 1;
    request.resume();
    request.on('end', () => {
      response.statusCode = refusals > 0 ? 503 : 200;
      refusals -= 1;
      response.end();
    });
  });
  const store = await openStoreAt(proxy);
  await store.write(randomUUID(), chunksOf(Buffer.from('x'), 1));
  expect(size).toBe(3);
  refusals = 3;
  await expect(store.write(randomUUID(), chunksOf(Buffer.from('x'), 1))).rejects.toMatchObject({
    name: 'StorageError',
    code: 'unavailable',
  });
  proxy.close();
});

describe('ASSAY_ATTACHMENTS', () => {
  const readSetting = (settings: Record<string, string>) => parseAttachmentStore((name) => settings[name]);

  it('sets a folder or a bucket', () => {
    expect(readSetting({})).toBeUndefined();
    expect(readSetting({ ASSAY_ATTACHMENTS: 'file:///var/lib/assay/files' })).toEqual({
      kind: 'folder',
      folder: '/var/lib/assay/files',
    });
    expect(
      readSetting({ ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://evidence/prefix/', AWS_REGION: 'eu-central-1' }),
    ).toEqual({
      kind: 's3',
      bucket: 'evidence',
      prefix: 'prefix/',
      region: 'eu-central-1',
      endpoint: undefined,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      sessionToken: undefined,
    });
  });

  it.each([
    [{ ASSAY_ATTACHMENTS: '/var/lib/assay' }, /file:\/\/\/folder/],
    [{ ASSAY_ATTACHMENTS: 'file://host/folder' }, /file:\/\/\/folder/],
    [{ ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://user:secret@bucket' }, /^(?!.*secret)/],
    [{ ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://BUCKET_NAME' }, /s3:\/\/bucket/],
    [{ ASSAY_ATTACHMENTS: 's3://evidence' }, /AWS_ACCESS_KEY_ID must be set/],
    [
      { ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://evidence', AWS_ENDPOINT_URL: 'ftp://x' },
      /AWS_ENDPOINT_URL /,
    ],
    [
      { ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://evidence', AWS_ENDPOINT_URL_S3: 'ftp://x' },
      /AWS_ENDPOINT_URL_S3 /,
    ],
    [{ ...CREDENTIALS, ASSAY_ATTACHMENTS: 's3://bucket/%zz' }, /s3:\/\/bucket/],
    [{ ASSAY_ATTACHMENTS: 'file:///a%2Fb' }, /file:\/\/\/folder/],
  ])('rejects %j', (settings, message) => {
    expect(() => readSetting(settings as unknown as Record<string, string>)).toThrow(message);
  });
});
