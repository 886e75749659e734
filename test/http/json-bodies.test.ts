import { describe, expect, it, vi } from 'vitest';
import { findExcess, MAX_NESTING } from '../../src/http/json-bodies.ts';
import { type RequestOptions, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PAGES = ['/sign-in', '/invitation', '/reset-password', '/oauth/authorize'];

/** Every operation with a body, and its limit in bytes. */
const OPERATIONS = [
  [1, 'DELETE', '/v1/vulnerability_tags/1', 64 * KIB],
  [2, 'PUT', '/v1/vulnerability_tags/1', 64 * KIB],
  [3, 'POST', '/v1/assessment_tags', 64 * KIB],
  [4, 'PUT', '/v1/assessment_tags/1', 64 * KIB],
  [5, 'PATCH', '/v1/vulnerabilities/1', MIB],
  [6, 'DELETE', '/v1/users/999', 64 * KIB],
  [8, 'POST', '/api/tagging/v1.0/organizations/acmebodies/tags', 4 * MIB],
  [9, 'PATCH', '/api/tagging/v1.0/organizations/acmebodies/tags', 4 * MIB],
  [10, 'POST', '/api/asset/v2/bulk/assets/criticality:update', 4 * MIB],
  [11, 'PATCH', '/api/asset/v2/listings/none/assets', 4 * MIB],
  [13, 'POST', '/api/assessment/v1/assessment-groups/1/members/batchRemove', 64 * KIB],
] as const;

const server = await useSharedServer();
const fixtures = createFixtures(server);
await fixtures.organization('acmebodies');
const staff = await fixtures.user();

/** @returns the response, and whether JSON with the marker was parsed */
async function watched(method: string, path: string, options: RequestOptions, marker: string) {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const response = await server.request(method, path, options);
    return { response, parsed: parse.mock.calls.some(([text]) => text.includes(marker)) };
  } finally {
    parse.mockRestore();
  }
}

const nested = (depth: number, marker: string) => `${'['.repeat(depth)}"${marker}"${']'.repeat(depth)}`;

describe('Pages', () => {
  it.each(PAGES)('%s rejects JSON without parsing it', async (path) => {
    const raw = `[{"__proto__":1,"page-marker":${nested(1_000, '')}}]`;
    const { response, parsed } = await watched('POST', path, { raw }, 'page-marker');
    expect([response.status, parsed]).toEqual([415, false]);
    expect(response.text).toContain('<!doctype html>');
    expect(response.text).toContain('application/x-www-form-urlencoded');
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'])(
    'reject %s',
    async (type) => {
      const options = { raw: 'email=a', headers: { 'content-type': type } };
      expect((await server.request('POST', '/sign-in', options)).status).toBe(415);
    },
  );

  it('accept forms of up to 64 KiB', async () => {
    const send = async (length: number) => {
      const raw = 'email='.padEnd(length, 'x');
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return (await server.request('POST', '/sign-in', { raw, headers })).status;
    };
    // Parsed, then rejected without a CSRF token.
    expect([await send(64 * KIB), await send(64 * KIB + 1)]).toEqual([403, 413]);
  });
});

describe.each(OPERATIONS)('The body of operation %i', (_number, method, path, limit) => {
  const padded = (length: number) => `{"fill":"${'x'.repeat(length - '{"fill":""}'.length)}"}`;

  it('is parsed up to its limit only', async () => {
    const { token } = staff;
    const accepted = await watched(method, path, { token, raw: padded(limit) }, 'xxxx');
    expect(accepted.parsed).toBe(true);
    expect(accepted.response.status).not.toBe(413);
    const over = await watched(method, path, { token, raw: padded(limit + 1) }, 'xxxx');
    expect([over.response.status, over.parsed]).toEqual([413, false]);
  });

  it(`is parsed up to a depth of ${MAX_NESTING} only`, async () => {
    const { token } = staff;
    const body = (depth: number) => `{"ignored":${nested(depth - 1, 'depth-marker')}}`;
    const accepted = await watched(method, path, { token, raw: body(MAX_NESTING) }, 'depth-marker');
    expect(accepted.parsed).toBe(true);
    const over = await watched(method, path, { token, raw: body(MAX_NESTING + 1) }, 'depth-marker');
    expect([over.response.status, over.parsed]).toEqual([400, false]);
    expect(over.response.text).toContain(`nested more than ${MAX_NESTING} levels deep`);
  });
});

it.each(['', '/v1', '/api/tagging', '/api/assessment', '/api/asset', '/api/streaming'])(
  'Bodies for unknown paths under "%s" are not parsed',
  async (prefix) => {
    const raw = '{"unknown-path-marker":1}';
    const { response, parsed } = await watched(
      'POST',
      `${prefix}/no/such/thing`,
      { raw },
      'unknown-path-marker',
    );
    expect([response.status, parsed]).toEqual([404, false]);
  },
);

it('Bodies with more than 524,288 values are a 413', async () => {
  const raw = `{"tags":[${'1,'.repeat(524_288)}1]}`;
  const { status, body } = await server.request('POST', '/api/tagging/v1.0/organizations/x/tags', {
    token: staff.token,
    raw,
  });
  expect([status, body.type]).toEqual([413, expect.stringMatching(/body-too-large$/)]);
});

describe('findExcess', () => {
  it.each([
    ['{}', 1],
    ['[[]]', 2],
    ['{"a":[{"b":[]},{}]}', 4],
    ['"[[["', 0],
    [String.raw`["\"[[[", "\\", "[["]`, 1],
    [String.raw`{"a\\":[1]}`, 2],
    ['[],[],[]', 1],
    ['', 0],
  ])('computes the depth of %s as %i', (text, depth) => {
    const values = 1_000;
    expect(findExcess(text, { depth, values })).toBeUndefined();
    if (depth > 0) expect(findExcess(text, { depth: depth - 1, values })).toBe('depth');
  });

  it.each([
    ['{}', 1],
    ['[1,2,3]', 3],
    ['{"a":[1,{"b":2}],"c":","}', 5],
    ['"[,,,"', 0],
  ])('counts the values of %s as %i', (text, values) => {
    const depth = 32;
    expect(findExcess(text, { depth, values })).toBeUndefined();
    if (values > 0) expect(findExcess(text, { depth, values: values - 1 })).toBe('values');
  });

  it('stops reading at the limit', () => {
    const hostile = `[{"__proto__":1},${'['.repeat(2 * MIB)}`;
    let read = 0;
    const counted = {
      length: hostile.length,
      charCodeAt: (at: number) => {
        read += 1;
        return hostile.charCodeAt(at);
      },
    };
    expect(findExcess(counted, { depth: MAX_NESTING, values: 1_000 })).toBe('depth');
    expect(read).toBeLessThan(100);
  });
});
