import { describe, expect, it } from 'vitest';
import { openAsBlob, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError, createClient, type Transport, type VulnerabilityTag } from '../../client/src/index.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);
await fixtures.organization('typed');
await fixtures.assessment('typed', 'typed-web');
const { token } = await fixtures.user({ organization: 'typed', admin: true });

/** Records requests to the real server and their responses; the first ones are answered as by a busy server. */
function observed(busy: readonly (readonly [status: number, retryAfter: string])[] = []) {
  const requests: { method: string; query: string; key: string | null; status: number }[] = [];
  const fetch: Transport = async (request) => {
    const busyResponse = busy[requests.length];
    const response =
      busyResponse === undefined
        ? await globalThis.fetch(request)
        : new Response('', { status: busyResponse[0], headers: { 'retry-after': busyResponse[1] } });
    const query = decodeURIComponent(new URL(request.url).search);
    const key = request.headers.get('idempotency-key');
    requests.push({ method: request.method, query, key, status: response.status });
    return response;
  };
  return { requests, client: createClient({ server: server.origin, token, fetch }) };
}

const newTag = (name: string) => ({ body: { name, assessment_id: 'typed-web' } });

describe('Call', () => {
  it('returns the types of the description', async () => {
    const { client } = observed();
    const { data, response } = await client.POST('/v1/assessment_tags', newTag('typed'));
    const name: string = data.name;
    expect([response.status, name]).toEqual([201, 'typed']);
    const { data: hours } = await client.GET('/v1/assessments/{id}/testing_hours', {
      params: { path: { id: 'typed-web' } },
    });
    const total: number = hours.stats_total;
    expect(total).toBe(0);
  });

  it('changes only the members in its body', async () => {
    const { client } = observed();
    const asset = {
      organizationUid: 'typed',
      assetType: 'host',
      location: '192.0.2.80',
      criticality: 'high',
    } as const;
    const { data: created } = await client.POST('/api/asset/v2/assets', { body: asset });
    if (Array.isArray(created)) throw new Error('One asset was created, not a list.');
    const { data: renamed } = await client.PATCH('/api/asset/v2/assets/{assetUid}', {
      params: { path: { assetUid: created.uid } },
      body: { name: 'printer' },
    });
    expect(renamed).toMatchObject({ name: 'printer', criticality: 'high', writableBy: 'any' });
  });

  it('has types that reject wrong bodies', () => {
    const { client } = observed();
    const calls = [
      () =>
        client.POST('/v1/vulnerabilities/{id}/attachments', {
          params: { path: { id: 1 } },
          // @ts-expect-error An upload is a form.
          body: { file: ['text'] },
        }),
      () =>
        client.PATCH('/api/asset/v2/assets/{assetUid}', {
          params: { path: { assetUid: '5f0c1e2d3b4a59687786a5b4' } },
          // @ts-expect-error The value is not in the enumeration.
          body: { criticality: 'urgent' },
        }),
    ];
    expect(calls).toHaveLength(2);
  });

  it('throws errors of every shape of the server', async () => {
    const { client } = observed();
    const refused = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: unknown) => error,
      );
    const invalid = await refused(client.POST('/v1/assessment_tags', newTag(' ')));
    expect(invalid).toBeInstanceOf(AssayError);
    expect(invalid).toMatchObject({
      status: 422,
      kind: 'validation-failed',
      fieldErrors: [{ property: 'name', message: expect.any(String) }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const params = { path: { assessmentGroupId: 999_999 } };
    expect(
      await refused(
        client.GET('/api/assessment/v1/assessment-groups/{assessmentGroupId}/members', { params }),
      ),
    ).toMatchObject({ status: 404, kind: 'group-not-found', message: expect.stringMatching(/\w/) });
    const port = { path: { org_uid: 'typed', asset_uid: 'none' } };
    expect(
      await refused(client.GET('/api/streaming/v1/{org_uid}/assets/{asset_uid}/ports', { params: port })),
    ).toMatchObject({
      status: expect.any(Number),
      message: expect.not.stringMatching(/^The server responded/),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const path = { orgUid: 'typed' };
    const anonymousClient = createClient({ server: server.origin, token: 'assay_unknown' });
    expect(
      await refused(
        anonymousClient.POST('/api/tagging/v1.0/organizations/{orgUid}/tags', {
          params: { path },
          body: { tags: [{ name: 'x', entities: [] }] },
        }),
      ),
    ).toMatchObject({ status: 401, message: expect.not.stringMatching(/^The server responded/) });
  });
});

describe('Request to a busy server', () => {
  it('is repeated unchanged with the same idempotency key', async () => {
    const { client, requests } = observed([
      [503, '0'],
      [429, '0'],
    ]);
    await client.POST('/v1/assessment_tags', newTag('again'));
    expect(requests.map(({ status }) => status)).toEqual([503, 429, 201]);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
    expect(requests[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    const tags = await fixtures.auditEvents();
    expect(tags.filter(({ action }) => action === 'assessment-tag.create').length).toBeGreaterThan(0);
  });

  it('is not repeated after several attempts or for a long Retry-After', async () => {
    const often = observed(Array.from({ length: 9 }, () => [429, '0'] as const));
    await expect(often.client.GET('/v1/vulnerability_tags')).rejects.toMatchObject({
      status: 429,
      retryAfter: 0,
    });
    expect(often.requests).toHaveLength(5);
    const long = observed([[503, '3600']]);
    await expect(long.client.GET('/v1/vulnerability_tags')).rejects.toMatchObject({
      status: 503,
      retryAfter: 3_600,
    });
    expect(long.requests).toHaveLength(1);
  });

  it('creates once when a response is lost', async () => {
    let lost = true;
    const client = createClient({
      server: server.origin,
      token,
      async fetch(request) {
        const response = await fetch(request);
        if (!lost) return response;
        lost = false;
        return new Response('', { status: 503, headers: { 'retry-after': '0' } });
      },
    });
    const { response } = await client.POST('/v1/assessment_tags', newTag('once'));
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  });

  it('uploads a form from files again in full', async () => {
    const file = join(temporaryFolder(), 'answer.txt');
    writeFileSync(file, 'x'.repeat(3_000_000));
    const form = new FormData();
    form.append('file', await openAsBlob(file, { type: 'text/plain' }), 'answer.txt');
    const sent: string[] = [];
    const client = createClient({
      server: server.origin,
      token,
      async fetch(request) {
        sent.push(request.headers.get('idempotency-key') ?? '');
        if (sent.length === 1) return new Response('', { status: 503, headers: { 'retry-after': '0' } });
        return fetch(request);
      },
    });
    const { id } = await fixtures.vulnerability('typed-web');
    const { data } = await client.POST('/v1/vulnerabilities/{id}/attachments', {
      params: { path: { id } },
      body: form,
    });
    expect(data).toMatchObject([{ filename: 'answer.txt', file_size: 3_000_000 }]);
    expect([sent.length, new Set(sent).size]).toEqual([2, 1]);
  });

  it('stops waiting when the caller aborts', async () => {
    const { client } = observed([[503, '50']]);
    const ended = new AbortController();
    const call = client.GET('/v1/vulnerability_tags', { signal: ended.signal });
    ended.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});

describe('List', () => {
  const names = Array.from({ length: 7 }, (_, index) => `tag ${index}`);

  it('is read to its end by cursor, each row once', async () => {
    for (const name of names) await fixtures.vulnerabilityTag('typed', name);
    const { client, requests } = observed();
    const rows: VulnerabilityTag[] = [];
    const query = { 'page[size]': 3, 'filter[search]': 'tag ' };
    for await (const row of client.rows('/v1/vulnerability_tags', { params: { query } })) rows.push(row);
    expect(rows.map(({ name }) => name)).toEqual(names);
    expect(requests).toHaveLength(3);
    for (const { query: sent } of requests) expect(sent).toMatch(/page\[after\]=/);
    for (const { query: sent } of requests) expect(sent).toContain('filter[search]=tag');
  });

  it('starts at the requested page, and stops with its reader', async () => {
    const { client, requests } = observed();
    const query = { 'page[size]': 3, 'page[number]': 2, 'filter[search]': 'tag ' };
    const rows: string[] = [];
    for await (const { name } of client.rows('/v1/vulnerability_tags', { params: { query } })) {
      rows.push(name);
      if (rows.length === 2) break;
    }
    expect(rows).toEqual(names.slice(3, 5));
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['by cursor', {}],
    ['by number', { 'page[number]': 1 }],
  ])('is read to its end %s if its query is too long for a link', async (_how, start) => {
    const { client, requests } = observed();
    const unknown = '1234567890'.repeat(900);
    const query = { ...start, 'page[size]': 3, 'filter[search]': 'tag ', unknown };
    const rows: string[] = [];
    for await (const { name } of client.rows('/v1/vulnerability_tags', { params: { query } }))
      rows.push(name);
    expect(rows).toEqual(names);
    expect(requests).toHaveLength(3);
    for (const { query: sent } of requests) expect(sent).toContain(unknown);
  });

  it('follows the links of an envelope', async () => {
    const { id } = await fixtures.group('typed');
    for (let count = 0; count < 3; count += 1) {
      const member = await fixtures.user({ organization: 'typed' });
      await fixtures.member(id, member.uid, 'assessment_member');
    }
    const { client, requests } = observed();
    const path = '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members';
    const params = { path: { assessmentGroupId: id }, query: { perPage: 2 } };
    const roles: string[] = [];
    for await (const { role } of client.rows(path, { params })) roles.push(role);
    expect(roles).toEqual(Array.from({ length: 3 }, () => 'assessment_member'));
    expect(requests.map(({ query }) => query)).toEqual(['?perPage=2', '?perPage=2&page=2']);
  });

  it('does not send the token to other servers that a link names', async () => {
    const urls: string[] = [];
    const client = createClient({
      server: server.origin,
      token,
      async fetch({ url }) {
        urls.push(url);
        const headers = {
          link: '<https://elsewhere.example/v1/vulnerability_tags?page%5Bafter%5D=x>; rel="next"',
        };
        return Response.json([], urls.length === 1 ? { headers } : {});
      },
    });
    const rows: unknown[] = [];
    for await (const row of client.rows('/v1/vulnerability_tags')) rows.push(row);
    expect(rows).toEqual([]);
    expect(urls.map((url) => new URL(url).origin)).toEqual([server.origin, server.origin]);
    expect(decodeURIComponent(urls[1] ?? '')).toBe(`${server.origin}/v1/vulnerability_tags?page[after]=x`);
  });
});

describe('Token', () => {
  it('can be obtained for each request', async () => {
    let calls = 0;
    const client = createClient({
      server: `${server.origin}/`,
      async token() {
        calls += 1;
        return token;
      },
    });
    await client.GET('/v1/vulnerability_tags');
    await client.GET('/v1/vulnerability_tags');
    expect(calls).toBe(2);
  });
});
