import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAttachmentStore } from '../../src/config/attachment-store.ts';
import type { Database } from '../../src/db/database.ts';
import { openFileStore } from '../../src/files/file-storage.ts';

/**
 * Signature Version 4 (AWS General Reference, "Signature Version 4 signing process"), verified independently:
 * s3rver, which the other tests use, accepts every signature.
 */

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const ACCESS = 'AKIAIOSFODNN7EXAMPLE';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  errors: string[];
}

let server: Server;
let endpoint: string;
let requests: Seen[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks);
      const errors = verifySignature({ method, url, headers, body }, SECRET);
      requests.push({ method, url, headers, body, errors });
      response.statusCode = errors.length > 0 ? 403 : ({ PUT: 200, GET: 206, DELETE: 204 }[method] ?? 405);
      response.end(method === 'GET' ? 'content' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => void (requests = []));

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** RFC 3986: percent-encodes all but unreserved characters, in upper case. */
function encoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      /[A-Za-z0-9_.~-]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/** @returns the signature of a request with these headers, in hex */
function signatureOf(
  { method, url, headers }: Pick<Seen, 'method' | 'url' | 'headers'>,
  { signed, scope, secret }: { signed: readonly string[]; scope: string; secret: string },
): string {
  const [path = '', query = ''] = url.split('?');
  const canonicalPath = path
    .split('/')
    .map((part) => encoded(decodeURIComponent(part)))
    .join('/');
  const canonicalQuery = [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const lines = signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`);
  const canonical = [
    method,
    canonicalPath,
    canonicalQuery,
    lines.join(''),
    signed.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const [date = '', region = '', service = ''] = scope.split('/');
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

function verifySignature({ method, url, headers, body }: Omit<Seen, 'errors'>, secret: string): string[] {
  const errors: string[] = [];
  const [, access, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const signed = names.split(';');
  if (access !== ACCESS) errors.push('another key');
  if (names !== [...signed].sort().join(';')) errors.push('names of headers are out of order');
  for (const name of Object.keys(headers))
    if ((name === 'host' || name.startsWith('x-amz-')) && !signed.includes(name))
      errors.push(`${name} is not signed`);
  const date = String(headers['x-amz-date']);
  if (!/^\d{8}T\d{6}Z$/.test(date) || !scope.startsWith(date.slice(0, 8))) errors.push('another day');
  if (headers['x-amz-content-sha256'] !== sha256(body)) errors.push('another content');
  if (signature !== signatureOf({ method, url, headers }, { signed, scope, secret }))
    errors.push('another signature');
  return errors;
}

function storeOf(settings: Record<string, string> = {}) {
  const all: Record<string, string> = {
    ASSAY_ATTACHMENTS: 's3://evidence',
    AWS_ACCESS_KEY_ID: ACCESS,
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_ENDPOINT_URL: endpoint,
    ...settings,
  };
  // A store in a bucket needs no database.
  return openFileStore(
    { attachments: parseAttachmentStore((name) => all[name]), dataDirectory: '' },
    undefined as unknown as Database,
  );
}

async function* chunksOf(content: Buffer) {
  for (let at = 0; at < content.length; at += 60_000) yield content.subarray(at, at + 60_000);
}

/** Writes, reads and removes a key. */
async function use(
  store: ReturnType<typeof storeOf>,
  key: string = randomUUID(),
  content = Buffer.from('content'),
) {
  await store.write(key, chunksOf(content));
  for await (const chunk of store.read(key, 1, 5)) expect(chunk.length).toBeGreaterThan(0);
  await store.remove(key);
}

describe('Verification of signatures', () => {
  // AWS Signature Version 4 for S3, "Examples: GET object" and "PUT object".
  const exampleCredentials = {
    scope: '20130524/us-east-1/s3/aws4_request',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  it('computes the published examples', () => {
    const headers = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' };
    const get = { ...headers, range: 'bytes=0-9', 'x-amz-content-sha256': sha256('') };
    expect(
      signatureOf(
        { method: 'GET', url: '/test.txt', headers: get },
        { ...exampleCredentials, signed: ['host', 'range', 'x-amz-content-sha256', 'x-amz-date'] },
      ),
    ).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
    const putHeaders = {
      ...headers,
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': sha256('Welcome to Amazon S3.'),
    };
    expect(
      signatureOf(
        { method: 'PUT', url: '/test%24file.text', headers: putHeaders },
        {
          ...exampleCredentials,
          signed: ['date', 'host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-storage-class'],
        },
      ),
    ).toBe('98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd');
  });
});

describe('S3 store signs its requests', () => {
  it('to write, to read a range and to remove', async () => {
    const key = randomUUID();
    const content = Buffer.alloc(300_000, 'evidence ');
    await use(storeOf(), key, content);
    expect(requests.map(({ method, url, errors }) => [method, url, errors])).toEqual([
      ['PUT', `/evidence/${key}`, []],
      ['GET', `/evidence/${key}`, []],
      ['DELETE', `/evidence/${key}`, []],
    ]);
    expect(requests[0]?.body.equals(content)).toBe(true);
    expect(requests[0]?.headers['content-length']).toBe(String(content.length));
    expect(requests[1]?.headers.range).toBe('bytes=1-5');
  });

  it('for empty content', async () => {
    await storeOf().write(randomUUID(), chunksOf(Buffer.alloc(0)));
    expect(requests.map(({ method, errors }) => [method, errors])).toEqual([['PUT', []]]);
  });

  it.each([
    'plain/of two',
    "!'()*",
    'a+b=c&d',
    'ümlaut/報告',
    '100%25',
    'a%2Fb',
    '~tilde_under-dash.dot',
    '@:,;$',
  ])('under the prefix %s', async (prefix) => {
    const key = randomUUID();
    await use(storeOf({ ASSAY_ATTACHMENTS: `s3://evidence/${prefix}` }), key);
    expect(requests.flatMap(({ errors }) => errors)).toEqual([]);
    const path = decodeURIComponent(new URL(`s3://evidence/${prefix}`).pathname);
    expect(requests.map(({ url }) => decodeURIComponent(url))).toEqual(
      Array(3).fill(`/evidence${path}/${key}`),
    );
  });

  it('with the signed token of temporary credentials', async () => {
    await use(storeOf({ AWS_SESSION_TOKEN: 'FQoGZXIvYXdzEBYaD+/=token' }));
    expect(requests.map(({ errors }) => errors)).toEqual([[], [], []]);
    for (const { headers } of requests) {
      expect(headers['x-amz-security-token']).toBe('FQoGZXIvYXdzEBYaD+/=token');
      expect(headers.authorization).toContain('x-amz-security-token');
    }
  });

  it('for the configured region', async () => {
    await use(storeOf({ AWS_REGION: 'eu-central-1' }));
    expect(requests.map(({ errors }) => errors)).toEqual([[], [], []]);
    for (const { headers } of requests)
      expect(headers.authorization).toMatch(/\/\d{8}\/eu-central-1\/s3\/aws4_request,/);
  });

  it('so that another secret is rejected', async () => {
    const write = storeOf({ AWS_SECRET_ACCESS_KEY: 'another' }).write(
      randomUUID(),
      chunksOf(Buffer.from('x')),
    );
    await expect(write).rejects.toThrow(/with 403/);
    expect(requests.map(({ errors }) => errors)).toEqual([['another signature']]);
  });
});
