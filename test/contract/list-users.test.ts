import { beforeEach, describe, expect, it } from 'vitest';
import { recordTokenUse } from '../../src/domain/tokens/credentials.ts';
import { useOwnServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
const server = await useOwnServer({ clientBaseUrl: 'https://gateway.example' }, () => NOW);
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid, name: 'Ada' });
});

const list = (token: string, query = '') => server.request('GET', `/v1/users${query}`, { token });

describe('Operation 53: list users', () => {
  it("returns every field of the organization's users to admins", async () => {
    const assessment = await fixtures.assessment(organization.uid);
    await fixtures.access(assessment.uid, user.id);
    const invited = await fixtures.invited({ organization: organization.uid });
    const [token] = await server.context.db.read
      .selectFrom('tokens')
      .select('id')
      .where('user_id', '=', user.id)
      .execute();
    await server.context.db.write((tx) =>
      recordTokenUse(tx, new Map([[token?.id ?? '', { at: NOW - 1, address: '192.0.2.1' }]])),
    );
    const { body } = await list(admin.token);
    const userOf = (id: number) => body.find((row: { id: number }) => row.id === id);
    expect(body).toHaveLength(3);
    expect(userOf(user.id)).toEqual({
      id: user.id,
      uid: user.uid,
      name: 'Ada',
      email: user.email,
      organization_uid: organization.uid,
      assessment_ids: [assessment.uid],
      banned: false,
      staff: false,
      admin: false,
      invite_url: null,
      last_seen_at: new Date(NOW - 1).toISOString(),
      second_factor: false,
    });
    expect(userOf(invited.id).invite_url).toMatch(/^https:\/\/gateway\.example\/invitation\?token=/);
  });

  it('omits the links of invitations for a token with the scope api_read alone', async () => {
    await fixtures.invited({ organization: organization.uid });
    const { token } = await fixtures.token(admin.id, { scopes: ['api_read'] });
    const { body } = await list(admin.token);
    expect((await list(token)).body).toEqual(
      body.map(({ invite_url: _link, ...others }: { invite_url: string | null }) => others),
    );
  });

  it('returns only id, uid, name and address to group admins', async () => {
    const group = await fixtures.group(organization.uid);
    await fixtures.member(group.id, user.uid, 'assessment_operator');
    expect((await list(user.token)).status).toBe(403);
    await fixtures.member((await fixtures.group(organization.uid)).id, user.uid, 'rbac_group_admin');
    const { status, body } = await list(user.token);
    expect([status, body]).toEqual([
      200,
      [admin, user].map(({ id, uid, email }) => ({ id, uid, name: id === user.id ? 'Ada' : null, email })),
    ]);
  });

  it('returns 403 to others', async () => {
    const { status, body } = await list(user.token);
    expect([status, body.detail]).toEqual([403, 'Only admins and group admins can list users.']);
  });

  it('returns client users of visible organizations to staff, with a filter by organization', async () => {
    const { uid: otherOrganization } = await fixtures.organization();
    const otherUser = await fixtures.user({ organization: otherOrganization });
    const ids = async (token: string, uid?: string) => {
      const query = uid === undefined ? '' : `?filter[organization_uid][]=${uid}`;
      return ((await list(token, query)).body as { id: number }[]).map(({ id }) => id);
    };
    const staff = await fixtures.user();
    const assigned = await fixtures.user({ assignedTo: [otherOrganization] });
    const all = await ids(staff.token);
    expect(all).toEqual(expect.arrayContaining([admin.id, user.id, otherUser.id]));
    expect(all).not.toContain(staff.id);
    expect(await ids(staff.token, otherOrganization)).toEqual([otherUser.id]);
    expect(await ids(assigned.token)).toEqual([otherUser.id]);
    expect(await ids(assigned.token, organization.uid)).toEqual([]);
  });

  it('omits banned users unless the filter includes them', async () => {
    await server.request('DELETE', `/v1/users/${user.id}`, { token: admin.token });
    const emails = async (query: string) =>
      ((await list(admin.token, query)).body as { email: string }[]).map(({ email }) => email);
    expect(await emails('')).toEqual([admin.email]);
    expect(await emails('?filter[banned]=false')).toEqual([admin.email]);
    expect(await emails('?filter[banned]=true')).toEqual([user.email]);
  });
});
