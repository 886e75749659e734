import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);

const whoAmI = (token: string, headers = {}) => server.request('GET', '/v1/users/whoami', { token, headers });

describe('Operation 52: get the current user', () => {
  it('returns client users to themselves, without the fields for admins', async () => {
    const { uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid, name: 'Ada' });
    const [second, first] = [
      await fixtures.assessment(uid, `b-${uid}`),
      await fixtures.assessment(uid, `a-${uid}`),
    ];
    await fixtures.assessment(uid);
    for (const assessment of [second, first]) await fixtures.access(assessment.uid, user.id);
    const { status, body } = await whoAmI(
      (await fixtures.token(user.id, { scopes: ['api', 'tag_lr'] })).token,
    );
    expect([status, body]).toEqual([
      200,
      {
        id: user.id,
        uid: user.uid,
        name: 'Ada',
        email: user.email,
        organization_uid: uid,
        assessment_ids: [first.uid, second.uid],
        banned: false,
        staff: false,
        accessible_assessment_ids: [first.uid, second.uid],
        scopes: ['api', 'tag_lr'],
      },
    ]);
  });

  it('returns the fields for admins, and only the assessments that were granted by name', async () => {
    const { uid } = await fixtures.organization();
    const admin = await fixtures.user({ organization: uid, admin: true });
    await fixtures.assessment(uid);
    const assignedAssessment = await fixtures.assessment(uid);
    await fixtures.access(assignedAssessment.uid, admin.id);
    const { body } = await whoAmI(admin.token);
    expect(body).toMatchObject({
      admin: true,
      invite_url: null,
      last_seen_at: null,
      second_factor: false,
      assessment_ids: [assignedAssessment.uid],
    });
    expect(body).not.toHaveProperty('accessible_assessment_ids');
  });

  it('returns the assessments that the user can access by name and by group, each once', async () => {
    const { uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    const group = await fixtures.group(uid);
    const [named, both, grouped] = [
      await fixtures.assessment(uid, `c-${uid}`),
      await fixtures.assessment(uid, `b-${uid}`, group.id),
      await fixtures.assessment(uid, `a-${uid}`, group.id),
    ];
    await fixtures.assessment(uid);
    for (const assessment of [named, both]) await fixtures.access(assessment.uid, user.id);
    await fixtures.member(group.id, user.uid, 'infra_admin');
    const { body, headers } = await whoAmI(user.token);
    expect([body.assessment_ids, body.accessible_assessment_ids]).toEqual([
      [both.uid, named.uid],
      [grouped.uid, both.uid, named.uid],
    ]);
    // The body changes without the version.
    await fixtures.assessment(uid, `d-${uid}`, group.id);
    const later = await whoAmI(user.token, { 'if-none-match': headers.get('etag') });
    expect([later.status, later.body.accessible_assessment_ids]).toEqual([
      200,
      [grouped.uid, both.uid, named.uid, `d-${uid}`],
    ]);
  });

  it('omits the link of the invitation for a token with the scope api_read alone', async () => {
    const { uid } = await fixtures.organization();
    const admin = await fixtures.user({ organization: uid, admin: true });
    const { token } = await fixtures.token(admin.id, { scopes: ['api_read', 'tag_or'] });
    const { status, body } = await whoAmI(token);
    expect([status, body.admin, body.scopes]).toEqual([200, true, ['api_read', 'tag_or']]);
    expect(body).not.toHaveProperty('invite_url');
  });

  it('returns staff with staff and admin true', async () => {
    const staff = await fixtures.user();
    const { body } = await whoAmI(staff.token);
    expect(body).toMatchObject({ staff: true, admin: true, organization_uid: null, name: null });
    expect(body).not.toHaveProperty('accessible_assessment_ids');
  });

  it('returns the scopes that the account may use now', async () => {
    const { uid } = await fixtures.organization();
    await fixtures.user({ organization: uid, admin: true });
    const admin = await fixtures.user({ organization: uid, admin: true });
    expect((await whoAmI(admin.token)).body.scopes).toContain('tag_ow');
  });

  it('returns an ETag', async () => {
    const staff = await fixtures.user();
    const first = await whoAmI(staff.token);
    const etag = first.headers.get('etag') ?? '';
    expect((await whoAmI(staff.token, { 'if-none-match': etag })).status).toBe(304);
  });
});
