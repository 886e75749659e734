import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { startSecondServer, type TestResponse, useSharedServer } from '../harness/server.ts';
import { linkOf } from '../harness/list-contract.ts';
import { createFixtures } from '../harness/fixtures.ts';

/**
 * What all lists share (docs/companions.md, section 1). Rows, filters and sorts of each list are tested in
 * `test/lists`.
 */

const START = Date.UTC(2026, 10, 21, 10, 30);
const TAGS = '/v1/vulnerability_tags';
const USERS = '/v1/users';
const EVENTS = '/v1/audit_events';
const ASSESSMENTS = '/v1/assessments';
const ASSET_TAGS = '/api/tagging/v1.0/organizations/listed/tags';

let now = START;
const server = await startSecondServer(await useSharedServer(() => now), {
  clientBaseUrl: 'https://gateway.example',
});
const fixtures = createFixtures(server);
await fixtures.organization('listed');
const { token } = await fixtures.user({ organization: 'listed', admin: true });
const { token: staffToken } = await fixtures.user();
for (const name of ['a', 'b', 'c', 'd', 'e']) {
  now += 60_000;
  await fixtures.vulnerabilityTag('listed', name);
  await fixtures.assessment('listed', `assessment-${name}`);
  await fixtures.token((await fixtures.user({ organization: 'listed' })).id);
}
const created = await server.request('POST', ASSET_TAGS, {
  token,
  body: { tags: ['a', 'b', 'c'].map((name) => ({ name, entities: [] })) },
});
expect(created.status).toBeLessThan(300);
afterAll(() => server.close());

const get = (path: string, query = '', credential = token) =>
  server.request('GET', query === '' ? path : `${path}?${query}`, { token: credential });
const names = ({ body }: TestResponse) => (body as { name: string }[]).map(({ name }) => name);
const pagination = ({ headers }: TestResponse) => headers.get('x-pagination');

const nameOf = (query: string) => query.split('=', 1)[0] ?? '';

/** @returns the bytes of the head of the response, as a proxy receives them */
async function headSize(path: string, query: string): Promise<number> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${path}?${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  const received = await buffer(socket);
  expect(received.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
  return received.indexOf('\r\n\r\n') + 4;
}

describe('Pages', () => {
  it('return their position in the headers', async () => {
    const response = await get(TAGS, 'page[number]=2&page[size]=2&filter[search]=');
    expect(names(response)).toEqual(['c', 'd']);
    expect(pagination(response)).toBe('{"current_page":2,"per_page":2,"total_pages":3,"total_entries":5}');
    const page = (number: number) =>
      `https://gateway.example${TAGS}?page%5Bsize%5D=2&filter%5Bsearch%5D=&page%5Bnumber%5D=${number}`;
    const links = ['first', 'prev', 'next', 'last'].map((name) =>
      decodeURIComponent(linkOf(response, name) ?? '').replace(/^[^?]*\?/, ''),
    );
    const expected = [1, 1, 3, 3].map((number) => decodeURIComponent(page(number)).replace(/^[^?]*\?/, ''));
    expect(links.map(sorted)).toEqual(expected.map(sorted));
    expect(linkOf(response, 'next')).toMatch(/^https:\/\/gateway\.example\/v1\/vulnerability_tags\?/);
  });

  it('have no links past the ends, and there is at least one page', async () => {
    const complete = await get(TAGS);
    expect([linkOf(complete, 'prev'), linkOf(complete, 'next')]).toEqual([undefined, undefined]);
    const empty = await get(TAGS, 'filter[search]=nothing+like+it');
    expect([empty.body, pagination(empty)]).toEqual([
      [],
      '{"current_page":1,"per_page":50,"total_pages":1,"total_entries":0}',
    ]);
  });

  it.each([
    ['by number', TAGS, 'page[number]=2&page[size]=1'],
    ['by cursor', TAGS, 'page[after]=&page[size]=1'],
    ['by number in other areas', ASSET_TAGS, 'page=2&perPage=1'],
    ['by cursor in other areas', ASSET_TAGS, 'page[after]=&perPage=1'],
    ['of a log', EVENTS, 'page[size]=1'],
  ])('%s lead to the next page, even with a long query', async (_how, path, query) => {
    const pad = (length: number) => `${query}&x=`.padEnd(length, 'x');
    const shortQuery = await get(path, pad(400));
    const next = linkOf(shortQuery, 'next') ?? '';
    expect(next).not.toBe('');
    const position = new URL(next).searchParams.get(
      /page%5Bafter%5D/.test(next) ? 'page[after]' : nameOf(query),
    );
    const noLinks = [undefined, undefined, undefined];
    const otherLinks = (response: TestResponse) =>
      ['first', 'prev', 'last'].map((name) => linkOf(response, name));

    const longQuery = await get(path, pad(2_000));
    expect(otherLinks(longQuery)).toEqual(noLinks);
    expect(linkOf(longQuery, 'next')).toContain('x'.repeat(1_900));
    const tooLong = await get(path, pad(9_000));
    expect(tooLong.headers.get('link')).toBeNull();
    expect([shortQuery, longQuery, tooLong].map(({ headers }) => headers.get('x-next-cursor'))).toEqual([
      null,
      null,
      position,
    ]);
    const head = await server.request('HEAD', `${path}?${pad(9_000)}`, { token });
    expect(head.headers.get('x-next-cursor')).toBe(position);
  });

  it.each([
    ['by number', TAGS, 'page[number]=2&page[size]=1'],
    ['by cursor', TAGS, 'page[after]=&page[size]=1'],
    ['by number in other areas', ASSET_TAGS, 'page=2&perPage=1'],
    ['by cursor in other areas', ASSET_TAGS, 'page[after]=&perPage=1'],
  ])('%s have a head below 4 KiB for a query of 935 characters', async (_how, path, query) => {
    const ignored = Array.from({ length: 10 }, (_, index) => `${index}`.padEnd(64, 'y')).join('&');
    expect(await headSize(path, `${query}&${ignored}&x=`.padEnd(935, 'x'))).toBeLessThan(4_096);
  });

  it('name no further page on the last one, even with a long query', async () => {
    for (const query of ['page[number]=5&page[size]=1', 'page[after]=']) {
      const { headers } = await get(TAGS, `${query}&x=`.padEnd(9_000, 'x'));
      expect([headers.get('link'), headers.get('x-next-cursor')]).toEqual([null, null]);
    }
  });

  it('are empty past the end', async () => {
    for (const number of ['4', '1000000', '9007199254740993', '99999999999999999999']) {
      const response = await get(TAGS, `page[number]=${number}&page[size]=2`);
      expect([number, response.status, response.body]).toEqual([number, 200, []]);
      expect(pagination(response)).toContain('"total_pages":3,"total_entries":5');
    }
  });

  it('are limited to 200 rows in V1, and return 400 above 5,000 in other areas', async () => {
    expect(pagination(await get(TAGS, 'page[size]=201'))).toContain('"per_page":200,');
    expect(pagination(await get(TAGS, 'page[size]=99999999999999999999'))).toContain('"per_page":200,');
    expect((await get(ASSET_TAGS, 'perPage=5000')).headers.get('pagination-limit')).toBe('5000');
    expect((await get(ASSET_TAGS, 'perPage=5001')).status).toBe(400);
  });

  it.each([
    [TAGS, 'page[number]=0'],
    [TAGS, 'page[number]=-1'],
    [TAGS, 'page[number]=1.0'],
    [TAGS, 'page[size]=0'],
    [TAGS, 'page[size]='],
    [TAGS, 'page[number]=1&page[number]=2'],
    [ASSET_TAGS, 'page=0'],
    [ASSET_TAGS, 'perPage=x'],
    [ASSET_TAGS, 'sort=none'],
    [ASSET_TAGS, 'sortDir=up'],
    [ASSESSMENTS, 'sort=none'],
    [ASSESSMENTS, 'sort=--name'],
    [ASSESSMENTS, 'sort=name,uid'],
    [TAGS, 'filter[search]=a&filter[search]=b'],
    [TAGS, `filter[search]=${'x'.repeat(256)}`],
    [TAGS, 'filter[search]=%00'],
    [TAGS, 'filter[organization_uid][]=No+uid'],
    [USERS, 'filter[banned]=yes'],
    [USERS, 'filter[banned]='],
    [USERS, 'filter[banned]=true&filter[banned]=true'],
    [EVENTS, 'filter[user_id]=1.5'],
    [EVENTS, 'filter[since]=2026-02-30'],
    [EVENTS, 'filter[since]=2026-11-21T25:00:00Z'],
    [EVENTS, 'filter[since]='],
  ])('%s?%s returns 400', async (path, query) => {
    expect((await get(path, query)).status).toBe(400);
  });
});

describe('Invalid parameters', () => {
  it.each([
    ['filter[state][]=nope', 'filter[state][]'],
    ['filter[state][]=active&filter[state][]=nope', 'filter[state][]'],
    ['filter[state]=nope', 'filter[state]'],
  ])('are named as sent: %s', async (query, property) => {
    const { status, body } = await get(ASSESSMENTS, query);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      detail: expect.stringContaining(`${property} must be`),
      failedValidation: [{ property, value: 'nope' }],
    });
  });
});

describe('Query strings', () => {
  const namesFor = async (query: string) => names(await get(TAGS, query));

  it('accept raw and percent-encoded brackets, and skip empty parts', async () => {
    for (const query of [
      'filter[search]=b',
      'filter%5Bsearch%5D=b',
      'filter%5bsearch%5d=b',
      '&filter[search]=b&',
      '&&page[size]=1&&filter[search]=b',
    ])
      expect([query, await namesFor(query)]).toEqual([query, ['b']]);
  });

  it('accept arrays with or without trailing brackets, once or repeatedly', async () => {
    const count = async (query: string) =>
      ((await get(EVENTS, `page[size]=200&${query}`)).body as unknown[]).length;
    const [tags, assessments] = ['vulnerability-tag.create', 'assessment.create'];
    expect(await count(`filter[action][]=${tags}`)).toBe(5);
    expect(await count(`filter[action]=${tags}`)).toBe(5);
    expect(await count(`filter[action]=${tags}&filter[action]=${assessments}`)).toBe(10);
    expect(await count(`filter[action]=${tags}&filter[action][]=${assessments}`)).toBe(10);
    expect(await count(`filter%5Baction%5D%5B%5D=${tags}`)).toBe(5);
  });

  it('accept booleans as true, false, 1 or 0', async () => {
    const count = async (value: string) =>
      ((await get(USERS, `filter[banned]=${value}`)).body as unknown[]).length;
    expect([await count('true'), await count('1'), await count('false'), await count('0')]).toEqual([
      0, 0, 6, 6,
    ]);
  });

  it('accept times with an offset or in UTC', async () => {
    const since = async (value: string) =>
      (
        (await get(EVENTS, `filter[action][]=vulnerability-tag.create&filter[since]=${value}`))
          .body as unknown[]
      ).length;
    for (const value of [
      '2026-11-21T10:33:00Z',
      '2026-11-21T10:33:00.000Z',
      '2026-11-21T10:33',
      '2026-11-21t10:33:00z',
      '2026-11-21T12:33:00%2B02:00',
      '2026-11-21T07:03:00-0330',
    ])
      expect([value, await since(value)]).toEqual([value, 3]);
    expect(await since('2026-11-21')).toBe(5);
  });

  it('may contain unknown parameters and unknown values', async () => {
    expect(await namesFor('unknown[]=1&filter[unknown]=2')).toHaveLength(5);
    const ignoredOf = async (list: string, query: string) =>
      (await get(list, query, list === EVENTS ? staffToken : token)).headers.get('assay-ignored');
    expect(await ignoredOf(TAGS, 'filter[serach]=a&page[size]=2&sort_by=x&a%0d%0ab=c')).toBe(
      'filter[serach], sort_by',
    );
    expect(await ignoredOf(ASSET_TAGS, `page=1&entityUid=${'0a'.repeat(12)}&entityuid[]=b`)).toBe(
      'entityuid[]',
    );
    expect(await ignoredOf(ASSESSMENTS, 'filter[state]=active&filter[tag_id][]=1')).toBeNull();
    expect(await ignoredOf(EVENTS, 'page[number]=2')).toBeNull();
    expect((await get(EVENTS, 'filter[user_id]=99999999999999999999')).body).toEqual([]);
    expect((await get(EVENTS, 'filter[action][]=%00&filter[action][]=none')).body).toEqual([]);
  });

  it('filter by organization for staff', async () => {
    const uids = async (query: string) => names(await get(TAGS, query, staffToken));
    expect(await uids('filter[organization_uid][]=listed')).toHaveLength(5);
    const { uid: withoutTags } = await fixtures.organization();
    expect(await uids(`filter[organization_uid][]=${withoutTags}`)).toEqual([]);
  });
});

describe('Cursors', () => {
  const cursorOf = async (path: string, query = '', credential = token) => {
    const response = await get(path, `${query}&page[after]=&page[size]=2`, credential);
    expect(response.status).toBe(200);
    return new URL(linkOf(response, 'next') ?? '').searchParams.get('page[after]') ?? '';
  };
  const behind = (path: string, cursor: string, query = '', credential = token) =>
    get(path, `${query}&page[size]=2&page[after]=${encodeURIComponent(cursor)}`, credential);

  it('continue at their position without a total', async () => {
    const response = await behind(TAGS, await cursorOf(TAGS));
    expect(names(response)).toEqual(['c', 'd']);
    expect(pagination(response)).toBeNull();
  });

  it('are valid only for their list, filters and sort', async () => {
    const cursor = await cursorOf(ASSESSMENTS, 'sort=name&filter[search]=assess');
    expect((await behind(ASSESSMENTS, cursor, 'sort=name&filter[search]=assess')).status).toBe(200);
    for (const query of [
      'sort=name',
      'sort=-name&filter[search]=assess',
      'sort=uid&filter[search]=assess',
      'sort=name&filter[search]=asses',
    ])
      expect([query, (await behind(ASSESSMENTS, cursor, query)).status]).toEqual([query, 400]);
    expect((await behind(TAGS, cursor)).status).toBe(400);
    expect((await behind(EVENTS, await cursorOf(TAGS))).status).toBe(400);
  });

  it.each(['x', '%', '{}', 'bnVsbA', 'W10', 'WzEsMiwzLDRd', 'é', '\u{1f600}', 'A'.repeat(8_000)])(
    'return 400 if they are %s',
    async (cursor) => {
      expect((await behind(TAGS, cursor)).status).toBe(400);
    },
  );

  it('return 400 or an empty page if forged, never a failure', async () => {
    const orders: [string, string, string][] = [
      [TAGS, '', token],
      [EVENTS, '', token],
      [EVENTS, '', staffToken],
      ['/v1/tokens', '', await manyTokens()],
      [ASSESSMENTS, 'sort=starts_on', token],
      [ASSESSMENTS, 'sort=-created_at', token],
      [ASSESSMENTS, 'sort=name', token],
    ];
    const values: unknown[] = [
      null,
      0,
      -1,
      1.5,
      1e300,
      Number.MAX_SAFE_INTEGER,
      -Number.MAX_SAFE_INTEGER,
      9_007_199_254_740_993,
      true,
      '',
      'text',
      '2026-11-22',
      "'; drop table users; --",
      'nul\0',
      '\ud800',
      '9'.repeat(4_000),
      [],
      {},
      ['a'],
    ];
    for (const [path, query, credential] of orders) {
      const [print] = JSON.parse(
        Buffer.from(await cursorOf(path, query, credential), 'base64url').toString(),
      ) as [string];
      for (const value of values) {
        for (const id of value === 'text' ? values : [1]) {
          const forged = Buffer.from(JSON.stringify([print, value, id])).toString('base64url');
          const { status } = await behind(path, forged, query, credential);
          expect([path, value, id, status < 500]).toEqual([path, value, id, true]);
        }
      }
    }
  });

  async function manyTokens(): Promise<string> {
    const user = await fixtures.user({ organization: 'listed' });
    for (let count = 0; count < 3; count += 1) await fixtures.token(user.id);
    return user.token;
  }
});

function sorted(query: string): string {
  return query.split('&').toSorted().join('&');
}
