import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_IDS } from '../harness/invalid-values.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

let organization: { id: number; uid: string };
let admin: TestUser;
let user: TestUser;
const server = await useSharedServer();
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  user = await fixtures.user({ organization: organization.uid });
});

const read = (id: number | string, token: string, headers = {}) =>
  server.request('GET', `/v1/users/${id}`, { token, headers });

describe('Operation 55: get a user', () => {
  it('returns every field to admins and staff', async () => {
    for (const token of [admin.token, staff.token]) {
      const { status, body } = await read(user.id, token);
      expect([status, Object.keys(body)]).toEqual([
        200,
        [
          'id',
          'uid',
          'name',
          'email',
          'organization_uid',
          'assessment_ids',
          'banned',
          'staff',
          'admin',
          'invite_url',
          'last_seen_at',
          'second_factor',
          'accessible_assessment_ids',
        ],
      ]);
    }
  });

  it('returns what the user can access by group to admins, and nothing of it for admins', async () => {
    const group = await fixtures.group(organization.uid);
    const grouped = await fixtures.assessment(organization.uid, undefined, group.id);
    for (const { uid } of [user, admin]) await fixtures.member(group.id, uid, 'assessment_read_only');
    const { body } = await read(user.id, admin.token);
    expect([body.assessment_ids, body.accessible_assessment_ids]).toEqual([[], [grouped.uid]]);
    expect((await read(admin.id, admin.token)).body).not.toHaveProperty('accessible_assessment_ids');
    const { body: list } = await server.request('GET', '/v1/users', { token: admin.token });
    for (const listed of list) expect(listed).not.toHaveProperty('accessible_assessment_ids');
  });

  it('omits the link of the invitation for a token with the scope api_read alone', async () => {
    const invited = await fixtures.invited({ organization: organization.uid });
    const full = await read(invited.id, admin.token);
    const { invite_url, ...others } = full.body;
    expect(invite_url).toMatch(/\/invitation\?token=/);
    for (const [scopes, expected] of [
      [['api_read', 'tag_lw', 'asset_or'], others],
      [['api', 'api_read'], full.body],
    ] as const) {
      const { token } = await fixtures.token(admin.id, { scopes: [...scopes] });
      expect((await read(invited.id, token)).body).toEqual(expected);
    }
    // The versions of the two bodies differ, so that none is taken for the other.
    const reader = await fixtures.token(admin.id, { scopes: ['api_read'] });
    const etag = (await read(invited.id, reader.token)).headers.get('etag') ?? '';
    expect((await read(invited.id, admin.token, { 'if-none-match': etag })).status).toBe(200);
  });

  it('returns users to themselves, without the fields for admins', async () => {
    const { status, body } = await read(user.id, user.token);
    expect([status, body.email, body.admin, body.invite_url, body.last_seen_at]).toEqual([
      200,
      user.email,
      undefined,
      undefined,
      undefined,
    ]);
    expect((await read(staff.id, staff.token)).body).toMatchObject({ staff: true, admin: true });
  });

  it('returns 404 to others and for malformed ids', async () => {
    const outsider = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    const attempts: [number | string, string][] = [
      [admin.id, user.token],
      [outsider.id, admin.token],
      [outsider.id, assigned.token],
      [staff.id, admin.token],
      [assigned.id, staff.token],
      ...INVALID_IDS.map((id): [string, string] => [id, admin.token]),
    ];
    for (const [id, token] of attempts) expect([id, (await read(id, token)).status]).toEqual([id, 404]);
  });

  it('increments the version when the user changes, with the same version for every reader', async () => {
    const first = await read(user.id, admin.token);
    const etag = first.headers.get('etag') ?? '';
    expect((await read(user.id, admin.token, { 'if-none-match': etag })).status).toBe(304);
    const ownEtag = (await read(user.id, user.token)).headers.get('etag') ?? '';
    expect(ownEtag).not.toBe(etag);
    expect(ownEtag.split('.')[0]).toBe(etag.split('.')[0]);
    const { uid } = await fixtures.assessment(organization.uid);
    await fixtures.access(uid, user.id);
    const later = await read(user.id, admin.token, { 'if-none-match': etag });
    expect([later.status, later.body.assessment_ids]).toEqual([200, [uid]]);
  });
});
