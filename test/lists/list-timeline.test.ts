import { beforeAll, describe, expect, it } from 'vitest';
import { linkOf, verifyListContract } from '../harness/list-contract.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);

let now = START;
let path: string;
let member: TestUser;
let staff: TestUser;
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
beforeAll(async () => {
  const { uid } = await fixtures.organization();
  const assessment = await fixtures.assessment(uid);
  member = await fixtures.user({ organization: uid });
  await fixtures.access(assessment.uid, member.id);
  staff = await fixtures.user();
  const { id } = await fixtures.vulnerability(assessment.uid, { statusId: 2 });
  await fixtures.vulnerability(assessment.uid);
  path = `/v1/vulnerabilities/${id}`;
  const requestAs = async (user: TestUser, method: string, subpath: string, body?: unknown) => {
    now += 1_000;
    return server.request(method, path + subpath, { token: user.token, body });
  };
  await requestAs(member, 'PATCH', '', { status_id: 3, tag_list: ['one'] });
  const { body: remaining } = await requestAs(member, 'POST', '/comments', { text: 'Kept' });
  await requestAs(member, 'PATCH', `/comments/${remaining.id}`, { text: 'Kept, and edited' });
  const { body: deletedComment } = await requestAs(member, 'POST', '/comments', { text: 'Gone' });
  await requestAs(member, 'DELETE', `/comments/${deletedComment.id}`);
  await requestAs(staff, 'POST', '/comments', { text: 'Between us', internal: true });
  const { body: deletedInternalComment } = await requestAs(staff, 'POST', '/comments', {
    text: 'Gone too',
    internal: true,
  });
  await requestAs(staff, 'DELETE', `/comments/${deletedInternalComment.id}`);
  const { body: retest } = await requestAs(member, 'POST', '/patch_verifications', { message: 'Look.' });
  await requestAs(staff, 'PATCH', `/patch_verifications/${retest.id}`, { status: 'verified' });
});

const timelineContract = () =>
  ({
    operation: 'listTimeline',
    path: `${path}/timeline`,
    key: 'id',
    style: 'log',
    filters: {},
    orders: { at: ({ at }: Record<string, any>) => at },
  }) as const;

describe('Operation 31: list the timeline of a vulnerability', () => {
  it('lists every entry, oldest first, with internal comments for staff only', async () => {
    const all = await verifyListContract(server, { ...timelineContract(), token: staff.token, atLeast: 11 });
    expect(all.map(({ kind, comment }) => [kind, comment?.text])).toEqual([
      ['created', undefined],
      ['status', undefined],
      ['tags', undefined],
      ['comment', 'Kept, and edited'],
      ['comment', null],
      ['comment', 'Between us'],
      ['comment', null],
      ['retest', undefined],
      ['status', undefined],
      ['retest', undefined],
      ['status', undefined],
    ]);
    const rows = await verifyListContract(server, { ...timelineContract(), token: member.token, atLeast: 9 });
    expect(rows).toEqual(all.filter((_entry, index) => index !== 5 && index !== 6));
    expect(rows[0]).toEqual({
      id: 0,
      at: '2026-11-21T10:30:00.000Z',
      kind: 'created',
      user: null,
      before: null,
      after: null,
      comment: null,
    });
    expect(rows[1]).toEqual({
      id: expect.any(Number),
      at: '2026-11-21T10:30:01.000Z',
      kind: 'status',
      user: { id: member.id, name: null, email: member.email },
      before: { status_id: 2, status: 'Pending Fix' },
      after: { status_id: 3, status: 'Fix In Progress' },
      comment: null,
    });
  });

  it('lists the newest first if asked, and ignores page numbers', async () => {
    const read = (query: string) =>
      server.request('GET', `${path}/timeline?${query}`, { token: member.token });
    const first = await read('page[size]=4&page[number]=7');
    expect(first.body).toHaveLength(4);
    expect([first.headers.get('x-pagination'), first.body[0].id]).toEqual([null, 0]);
    expect(linkOf(first, 'next')).toMatch(/page\[after\]=|page%5Bafter%5D=/);
    const all = await read('');
    const newest = await read('sort=-at');
    expect(newest.body).toEqual(all.body.toReversed());
    expect((await read('sort=kind')).status).toBe(400);
  });
});
