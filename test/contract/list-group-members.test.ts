import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAssessmentProblem } from '../harness/expect-problem.ts';
import { GROUP_ROLES, type GroupRole } from '../../src/auth/roles.ts';
import { startSecondServer, type TestResponse, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
let now = START;
let organization: string;
let group: number;
let admin: TestUser;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  now = START;
  organization = (await fixtures.organization()).uid;
  group = (await fixtures.group(organization)).id;
  admin = await fixtures.user({ organization, admin: true });
});

const pathOf = (id: number | string) => `/api/assessment/v1/assessment-groups/${id}/members`;
const list = (query = '', token: string | undefined = admin.token, id: number | string = group) =>
  server.request('GET', pathOf(id) + query, { token });
const linkTo = (query: string) => `${server.origin}${pathOf(group)}?${query}`;
/** Adds invited users, who need no token, to the group. */
const members = async (...roles: GroupRole[]) => {
  const uids: string[] = [];
  for (const role of roles) {
    const { uid } = await fixtures.invited({ organization });
    await fixtures.member(group, uid, role);
    uids.push(uid);
  }
  return uids;
};
const uidsOf = (response: TestResponse): string[] =>
  response.body.members.map((member: { userUid: string }) => member.userUid);

describe('Operation 12: list members of an assessment group', () => {
  it('returns exactly the fields of the specification', async () => {
    const namedMember = await fixtures.invited({ organization, name: 'Ada Lovelace' });
    const nameless = await fixtures.invited({ organization });
    await fixtures.member(group, namedMember.uid, 'assessment_creator');
    now += 1;
    await fixtures.member(group, nameless.uid, 'infra_admin');

    const response = await list();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.body).toEqual({
      members: [
        {
          userUid: namedMember.uid,
          role: 'assessment_creator',
          id: expect.any(Number),
          createdAt: '2026-11-21T10:30:00.000Z',
          userEmail: namedMember.email,
          userName: 'Ada Lovelace',
        },
        {
          userUid: nameless.uid,
          role: 'infra_admin',
          id: expect.any(Number),
          createdAt: '2026-11-21T10:30:00.001Z',
          userEmail: nameless.email,
        },
      ],
      metadata: {
        pagination: {
          total: 2,
          page: 1,
          perPage: 50,
          totalPages: 1,
          self: linkTo('page=1'),
          first: linkTo('page=1'),
          last: linkTo('page=1'),
        },
        actions: [
          { name: 'batchRemove', method: 'POST', href: `${server.origin}${pathOf(group)}/batchRemove` },
          { name: 'batchAdd', method: 'POST', href: `${server.origin}${pathOf(group)}/batchAdd` },
        ],
      },
    });
    expect(response.body.members[0].id).toBeLessThan(response.body.members[1].id);
  });

  it('returns an empty page for a group without members', async () => {
    const response = await list('?sort=role');
    expect(response.body.members).toEqual([]);
    expect(response.body.metadata.pagination).toEqual({
      total: 0,
      page: 1,
      perPage: 50,
      totalPages: 0,
      self: linkTo('sort=role&page=1'),
      first: linkTo('sort=role&page=1'),
      last: linkTo('sort=role&page=1'),
    });
  });

  describe('Sorting and pagination', () => {
    interface Row {
      userUid: string;
      role: string;
      id: number;
      createdAt: string;
    }
    let all: Row[];
    const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
    /** Computes the result of the specification and docs/decided.md without a database. */
    const expected = (sort: keyof Row, direction: number, role: string | undefined) =>
      all
        .filter((row) => role === undefined || row.role === role)
        .sort((a, b) => direction * compare(a[sort], b[sort]) || a.id - b.id);

    /** Shared by the tests below, which only read. */
    let crowd: { organization: string; group: number; admin: TestUser };
    beforeAll(async () => {
      organization = (await fixtures.organization()).uid;
      group = (await fixtures.group(organization)).id;
      admin = await fixtures.user({ organization, admin: true });
      crowd = { organization, group, admin };
      // Times with ties that do not increase with the id, and no infra_admin.
      const times = [5, 3, 3, 9, 3, 1, 5, 5, 2, 3, 3, 3, 8, 3, 3, 1, 9];
      const roles: GroupRole[] = [
        'assessment_member',
        'rbac_group_admin',
        'assessment_member',
        'assessment_read_only',
        'assessment_member',
        'assessment_operator',
        'assessment_creator',
      ];
      for (const [index, time] of times.entries()) {
        now = START + time;
        await members(roles[index % roles.length] as GroupRole);
      }
      all = await server.context.db.read
        .selectFrom('assessment_group_members')
        .select(['user_uid as userUid', 'role', 'id', 'created_at'])
        .where('group_id', '=', group)
        .execute()
        .then((rows) =>
          rows.map(({ created_at, ...row }) => ({ ...row, createdAt: new Date(created_at).toISOString() })),
        );
      expect(all).toHaveLength(times.length);
    });
    beforeEach(() => {
      ({ organization, group, admin } = crowd);
    });

    const combinations = (['createdAt', 'role', 'userUid'] as const).flatMap((sort) =>
      (['asc', 'desc'] as const).flatMap((sortDir) =>
        [undefined, 'assessment_member', 'rbac_group_admin', 'infra_admin'].map((role) => ({
          sort,
          sortDir,
          role,
        })),
      ),
    );
    it.each(combinations)(
      'pages through sort=$sort sortDir=$sortDir role=$role',
      async ({ sort, sortDir, role }) => {
        const rows = expected(sort, sortDir === 'asc' ? 1 : -1, role);
        for (const perPage of [1, 3, 4, 16, 17, 200]) {
          const totalPages = Math.ceil(rows.length / perPage);
          for (let page = 1; page <= totalPages + 1; page += 1) {
            const query = `sort=${sort}&sortDir=${sortDir}&perPage=${perPage}${role === undefined ? '' : `&role=${role}`}`;
            const response = await list(`?${query}&page=${page}`);
            const { members: found, metadata } = response.body;
            expect(
              found.map(({ userUid, role: memberRole, id, createdAt }: Row) => ({
                userUid,
                role: memberRole,
                id,
                createdAt,
              })),
            ).toEqual(rows.slice((page - 1) * perPage, page * perPage));
            const last = Math.max(1, totalPages);
            expect(metadata.pagination).toEqual({
              total: rows.length,
              page,
              perPage,
              totalPages,
              self: linkTo(`${query}&page=${page}`),
              first: linkTo(`${query}&page=1`),
              last: linkTo(`${query}&page=${last}`),
              ...(page > 1 ? { prev: linkTo(`${query}&page=${Math.min(page - 1, last)}`) } : {}),
              ...(page < totalPages ? { next: linkTo(`${query}&page=${page + 1}`) } : {}),
            });
          }
        }
      },
    );

    it('sorts by createdAt in ascending order, 50 per page, by default', async () => {
      expect(uidsOf(await list())).toEqual(expected('createdAt', 1, undefined).map(({ userUid }) => userUid));
    });

    it.each(['createdAt', 'role', 'userUid'])('sorts by %s in ascending order by default', async (sort) => {
      expect(uidsOf(await list(`?sort=${sort}`))).toEqual(
        expected(sort as keyof Row, 1, undefined).map(({ userUid }) => userUid),
      );
    });

    it('links from a page far past the end to the last page', async () => {
      const { body, status } = await list('?page=9007199254740993&perPage=10');
      expect(status).toBe(200);
      expect(body.members).toEqual([]);
      expect(body.metadata.pagination.total).toBe(17);
      expect(body.metadata.pagination.prev).toBe(linkTo('perPage=10&page=2'));
      expect(body.metadata.pagination.next).toBeUndefined();
    });

    it('links lead through all pages', async () => {
      const uids: string[] = [];
      let path: string | undefined = `${pathOf(group)}?perPage=5&sortDir=desc&page=1`;
      while (path !== undefined) {
        const response: TestResponse = await server.request('GET', path, { token: admin.token });
        uids.push(...uidsOf(response));
        path = response.body.metadata.pagination.next?.slice(server.origin.length);
      }
      expect(uids).toEqual(expected('createdAt', -1, undefined).map(({ userUid }) => userUid));
    });
  });

  it('ignores unknown parameters and keeps them in links', async () => {
    const { body, status } = await list('?p%61ge=1&filter=a%20b&perPage=200&&x');
    expect(status).toBe(200);
    expect(body.metadata.pagination.self).toBe(linkTo('filter=a%20b&perPage=200&x&page=1'));
  });

  it('uses the public address of the gateway in links', async () => {
    const otherServer = await startSecondServer(server, { clientBaseUrl: 'https://gateway.example.com' });
    try {
      const otherFixtures = createFixtures(otherServer);
      const { uid } = await otherFixtures.organization();
      const { id } = await otherFixtures.group(uid);
      const { token } = await otherFixtures.user({ organization: uid, admin: true });
      const { body } = await otherServer.request('GET', pathOf(id), { token });
      expect(body.metadata.pagination.self).toBe(`https://gateway.example.com${pathOf(id)}?page=1`);
      expect(body.metadata.actions[0].href).toBe(`https://gateway.example.com${pathOf(id)}/batchRemove`);
    } finally {
      await otherServer.close();
    }
  });

  it('includes banned members', async () => {
    const [uid] = await members('assessment_member');
    await server.context.db.write((tx) =>
      tx
        .updateTable('users')
        .set({ banned_at: 1 })
        .where('uid', '=', uid as string)
        .execute(),
    );
    expect(uidsOf(await list())).toEqual([uid]);
  });

  describe('Access', () => {
    it.each(GROUP_ROLES)('allows members with the role %s, and returns their actions', async (role) => {
      const user = await fixtures.user({ organization });
      await fixtures.member(group, user.uid, role);
      const { status, body } = await list('', user.token);
      expect(status).toBe(200);
      const actions: Partial<Record<GroupRole, string[]>> = {
        rbac_group_admin: ['batchRemove', 'batchAdd'],
        infra_admin: ['batchRemove'],
      };
      expect(body.metadata.actions.map(({ name }: { name: string }) => name)).toEqual(actions[role] ?? []);
    });

    it('allows staff, with the actions of admins', async () => {
      const { token } = await fixtures.user();
      const { status, body } = await list('', token);
      expect(status).toBe(200);
      expect(body.metadata.actions).toHaveLength(2);
    });

    it('returns 403 to other users of the organization', async () => {
      const { uid, token } = await fixtures.user({ organization });
      const otherGroup = await fixtures.group(organization);
      await fixtures.member(otherGroup.id, uid, 'rbac_group_admin');
      expectAssessmentProblem(server, await list('', token), 403, 'forbidden');
    });

    it('returns 404 to users of other organizations, as for an unknown group', async () => {
      const otherOrganization = (await fixtures.organization()).uid;
      const { token } = await fixtures.user({ organization: otherOrganization, admin: true });
      const foreign = await list('', token);
      expectAssessmentProblem(server, foreign, 404, 'group-not-found');
      const unknown = await list('', token, 999_999_999);
      expectAssessmentProblem(server, unknown, 404, 'group-not-found');
      expect(foreign.body.detail).toBe(unknown.body.detail);
    });
  });

  it.each(['999999999', '9007199254740993', '99999999999999999999999999'])(
    'returns 404 for the unknown group %s',
    async (id) => expectAssessmentProblem(server, await list('', admin.token, id), 404, 'group-not-found'),
  );

  it.each(['0', '-1', 'x', '1.5', '1e2', '01', '%00', '+1', '%201'])(
    'returns 400 for the malformed group id %s',
    async (id) => expectAssessmentProblem(server, await list('', admin.token, id), 400, 'invalid-request'),
  );

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=',
    'page=1.5',
    'page=1e1',
    'page=1&page=2',
    'perPage=0',
    'perPage=201',
    'perPage=ten',
    'sort=created_at',
    'sort=',
    'sort=id',
    'sort=role&sort=role',
    'sortDir=ASC',
    'sortDir=up',
    'role=admin',
    'role=',
    'role=assessment_member%00',
  ])('returns 400 for ?%s', async (query) => {
    const response = await list(`?${query}`);
    expectAssessmentProblem(server, response, 400, 'invalid-request');
    expect(response.body.detail).toContain(query.split('=', 1)[0]);
  });

  it.each([1, 200])('accepts perPage=%i', async (perPage) => {
    expect((await list(`?perPage=${perPage}`)).body.metadata.pagination.perPage).toBe(perPage);
  });
});
