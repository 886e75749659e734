import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { END_EVENT_ID } from '../../src/api/imports/import-events.ts';
import { OPERATIONS } from '../../src/api/operations.ts';
import {
  COMPRESSION_THRESHOLD,
  compressBody,
  isCompressible,
  negotiateEncoding,
} from '../../src/http/compression.ts';
import { beginEncoded, type EncodedRequest, getEncoded } from '../harness/encoded-response.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { formOf, insertImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';

/** Compression of responses (ADR 104). */

const server = await useSharedServer();
const fixtures = createFixtures(server);
const { id: organizationId, uid: organization } = await fixtures.organization();
const { token } = await fixtures.user({ organization, admin: true });
const { uid: assessment } = await fixtures.assessment(organization);
const vulnerabilities: number[] = [];
for (let count = 0; count < 12; count += 1)
  vulnerabilities.push(
    (await fixtures.vulnerability(assessment, { description: `${count} `.repeat(20_000) })).id,
  );
const [first = 0] = vulnerabilities;

const LIST = '/v1/vulnerabilities';
const SMALL_PAGE = `${LIST}?page[size]=3&fields=id,description`;
const STREAMED_PAGE = `${LIST}?page[size]=200`;
const ask = (path: string, encoding?: string, sent: EncodedRequest = {}) =>
  getEncoded(server.origin + path, encoding, { token, ...sent });

describe('The encoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['deflate, zstd', undefined],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br; q=0.9, gzip; q=0.5', 'br'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity', undefined],
    ['identity, br;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['*;q=0', undefined],
    ['br;q=nonsense', undefined],
    [',;=', undefined],
  ])('for %j is %s', (accepted, encoding) => {
    expect(negotiateEncoding(accepted)).toBe(encoding);
  });
});

describe('A page', () => {
  it.each([
    ['br', SMALL_PAGE],
    ['gzip', SMALL_PAGE],
    ['br', STREAMED_PAGE],
    ['gzip', STREAMED_PAGE],
  ])('is compressed with %s: %s', async (encoding, path) => {
    const plain = await ask(path);
    const packed = await ask(path, encoding);
    expect([packed.status, packed.used, packed.vary]).toEqual([200, encoding, 'Accept-Encoding']);
    expect([plain.status, plain.used, plain.vary]).toEqual([200, undefined, 'Accept-Encoding']);
    expect(packed.text).toBe(plain.text);
    expect(packed.size).toBeLessThan(plain.size / 10);
    expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
    expect(packed.headers.link).toBe(plain.headers.link);
    const isStream = path === STREAMED_PAGE;
    expect(plain.headers['transfer-encoding']).toBe(isStream ? 'chunked' : undefined);
    expect(packed.headers['content-length']).toBe(isStream ? undefined : String(packed.size));
  });

  it.each([undefined, 'identity', 'br;q=0, gzip;q=0', 'identity;q=0'])(
    'is sent as it is for %s',
    async (encoding) => {
      for (const path of [SMALL_PAGE, STREAMED_PAGE]) {
        const { status, used, vary } = await ask(path, encoding);
        expect([status, used, vary]).toEqual([200, undefined, 'Accept-Encoding']);
      }
    },
  );

  it('is compressed above 4 KiB', async () => {
    const { uid } = await fixtures.assessment(organization);
    const path = `${LIST}?filter[assessment_id][]=${uid}&fields=id,description`;
    const { id } = await fixtures.vulnerability(uid, { description: 'x' });
    const setLength = (length: number) =>
      server.context.db.write((tx) =>
        tx
          .updateTable('vulnerabilities')
          .set({ description: 'x'.repeat(length) })
          .where('id', '=', id)
          .execute(),
      );
    const rest = (await ask(path)).size - 1;
    await setLength(COMPRESSION_THRESHOLD - rest);
    const at = await ask(path, 'br');
    expect([at.size, at.used, at.vary]).toEqual([COMPRESSION_THRESHOLD, undefined, 'Accept-Encoding']);
    await setLength(COMPRESSION_THRESHOLD - rest + 1);
    const above = await ask(path, 'br');
    expect([above.text.length, above.used]).toEqual([COMPRESSION_THRESHOLD + 1, 'br']);
  });

  it('has the headers of GET for HEAD, and no body', async () => {
    for (const path of [SMALL_PAGE, STREAMED_PAGE]) {
      const { headers, used } = await ask(path, 'br');
      const head = await ask(path, 'br', { method: 'HEAD' });
      expect([head.status, head.used, head.vary, head.size]).toEqual([200, used, 'Accept-Encoding', 0]);
      for (const name of ['content-length', 'content-type', 'link'])
        expect([name, head.headers[name]]).toEqual([name, headers[name]]);
    }
  });
});

describe('A download', () => {
  it.each([
    ['text/csv', 'br'],
    ['text/csv', 'gzip'],
    ['application/x-ndjson', 'br'],
    ['application/x-ndjson', 'gzip'],
  ])('of %s is compressed with %s', async (accept, encoding) => {
    const plain = await ask(LIST, undefined, { accept });
    const packed = await ask(LIST, encoding, { accept });
    expect([packed.status, packed.used, packed.vary]).toEqual([200, encoding, 'Accept-Encoding']);
    expect([plain.used, plain.vary]).toEqual([undefined, 'Accept-Encoding']);
    expect(packed.text).toBe(plain.text);
    expect(packed.headers['content-disposition']).toBe(plain.headers['content-disposition']);
    const head = await ask(LIST, encoding, { accept, method: 'HEAD' });
    expect([head.status, head.used, head.vary, head.size]).toEqual([200, encoding, 'Accept-Encoding', 0]);
  });
});

it('The result of a change is compressed, and so is its replay', async () => {
  const tags = Array.from({ length: 100 }, (_, index) => ({ name: `tag ${index}` }));
  const body = JSON.stringify({ tags });
  const change = { method: 'POST', body, headers: { 'idempotency-key': organization } };
  const path = `/api/tagging/v1.0/organizations/${organization}/tags`;
  const { status, used, text } = await ask(path, 'br', change);
  expect([status, used, text.length > COMPRESSION_THRESHOLD]).toEqual([201, 'br', true]);
  const replay = await ask(path, 'gzip', change);
  expect([replay.used, replay.text, replay.headers['idempotency-replayed']]).toEqual(['gzip', text, 'true']);
  const plain = await ask(path, undefined, change);
  expect([plain.used, plain.vary, plain.text]).toEqual([undefined, 'Accept-Encoding', text]);
  const withoutKey = await ask(path, 'br', { method: 'POST', body: body.replaceAll('tag ', 'label ') });
  expect([withoutKey.used, withoutKey.text.length > text.length]).toEqual(['br', true]);
});

describe('Not compressed', () => {
  const sendsAsIs = async (path: string, expected: number, sent?: EncodedRequest) => {
    const response = await ask(path, 'br, gzip', sent);
    expect([path, response.status, response.used, response.vary]).toEqual([
      path,
      expected,
      undefined,
      undefined,
    ]);
    return response;
  };

  it('is a response with a strong ETag, nor its 304', async () => {
    const { headers, size } = await sendsAsIs(`${LIST}/${first}`, 200);
    expect(headers.etag).toMatch(/^"\d/);
    expect(size).toBeGreaterThan(COMPRESSION_THRESHOLD);
    const fresh = { headers: { 'if-none-match': String(headers.etag) } };
    expect((await sendsAsIs(`${LIST}/${first}`, 304, fresh)).size).toBe(0);
    const head = await sendsAsIs(`${LIST}/${first}`, 200, { method: 'HEAD' });
    expect([head.size, head.headers['content-length']]).toEqual([0, String(size)]);
  });

  it('is an attachment, nor a range of it', async () => {
    const content = 'x'.repeat(20_000);
    const path = `${LIST}/${first}/attachments`;
    const form = formOf([['file', content, 'a.txt']]);
    const uploaded = await server.request('POST', path, { token, ...form });
    const file = `${path}/${uploaded.body[0].id}`;
    expect((await sendsAsIs(file, 200)).text).toBe(content);
    expect((await sendsAsIs(file, 206, { headers: { range: 'bytes=0-9999' } })).size).toBe(10_000);
  });

  it('is the event stream of an import, nor a 204', async () => {
    const id = await insertImport(server, { organizationId });
    const path = `/v1/imports/${id}/events`;
    const { headers } = await beginEncoded(server.origin + path, 'br', { token });
    expect([headers['content-type'], headers['content-encoding'], headers.vary]).toEqual([
      'text/event-stream',
      undefined,
      undefined,
    ]);
    await sendsAsIs(path, 204, { headers: { 'last-event-id': END_EVENT_ID } });
  });

  it('is a list of users, which has the links of invitations, nor an invitation', async () => {
    const invited = [];
    for (let count = 0; count < 20; count += 1)
      invited.push(await fixtures.invited({ organization, email: `a${count}@${organization}.example` }));
    const { size, text } = await sendsAsIs('/v1/users?page[size]=100', 200);
    expect([size > COMPRESSION_THRESHOLD, text.includes('"invite_url":"http')]).toEqual([true, true]);
    const body = JSON.stringify({ email: `b@${organization}.example`, name: 'x'.repeat(200) });
    await sendsAsIs('/v1/users', 201, { method: 'POST', body });
  });

  it('is a created token, account pages, and the responses of the authorization server', async () => {
    const scopes = Array.from({ length: 900 }, () => 'api');
    const addresses = Array.from({ length: 900 }, (_, index) => `192.0.${index >> 8}.${index & 255}`);
    const body = JSON.stringify({ name: 'x', scopes, allowed_addresses: addresses });
    const created = await sendsAsIs('/v1/tokens', 201, { method: 'POST', body });
    expect(created.size).toBeGreaterThan(COMPRESSION_THRESHOLD);
    await sendsAsIs('/sign-in', 200);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await sendsAsIs('/oauth/token', 401, { method: 'POST', headers: form, body: 'grant_type=nonsense' });
  });

  it('is any operation whose responses can have a secret or an ETag', async () => {
    const app = await buildApp({ ...server.context });
    onTestFinished(() => app.close());
    const paths = Object.values((app.swagger() as any).paths) as Record<string, any>[];
    const text = (value: unknown): string =>
      JSON.stringify(value, (_key, part) =>
        typeof part?.$ref === 'string'
          ? (app.swagger() as any).components.schemas[part.$ref.split('/').at(-1)]
          : part,
      );
    const excluded = paths
      .flatMap((methods) => Object.values(methods))
      .filter(({ responses }) => /"(?:invite_url|token|secret|password|ETag)":/.test(text(responses)))
      .map(({ operationId }) => operationId as string);
    expect(excluded).toEqual(
      expect.arrayContaining(['createToken', 'listUsers', 'inviteUser', 'updateUser', 'banUser']),
    );
    const compressible = OPERATIONS.flatMap(({ operations }) => operations)
      .map((declare) => declare(server.context))
      .filter(isCompressible)
      .map(({ id }) => id);
    expect(compressible).toContain('listVulnerabilities');
    expect(compressible.filter((id) => excluded.includes(id))).toEqual([]);
  });
});

it('fetch, which the typed client uses, asks for it and decodes', async () => {
  const response = await fetch(server.origin + SMALL_PAGE, { headers: { authorization: `Bearer ${token}` } });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(await response.json()).toHaveLength(3);
});

it('A request that ends during the compression gets nothing of it', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.get('/', async (_request, reply) => {
    const request = { method: 'GET', headers: { 'accept-encoding': 'br' }, abortState: { aborted: true } };
    const sent = await compressBody(request as never, reply, 'x'.repeat(COMPRESSION_THRESHOLD + 1));
    return { isSent: sent !== undefined, hasEncoding: reply.hasHeader('content-encoding') };
  });
  expect((await app.inject('/')).json()).toEqual({ isSent: false, hasEncoding: false });
});
