import { beforeEach, describe, expect, it } from 'vitest';
import { uploadReport } from '../harness/imports.ts';
import { type TestResponse, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const ACCEPTED_RISK = 6;

let assessment: string;
let callers: Record<'member' | 'operator' | 'admin' | 'staff', TestUser>;
let setRole: (role: string) => Promise<TestResponse>;

const server = await useSharedServer();
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  const { uid: organization } = await fixtures.organization();
  const group = await fixtures.group(organization);
  assessment = (await fixtures.assessment(organization, undefined, group.id)).uid;
  const [member, operator, admin] = [
    await fixtures.user({ organization }),
    await fixtures.user({ organization }),
    await fixtures.user({ organization, admin: true }),
  ];
  await fixtures.access(assessment, member.id);
  await fixtures.access(assessment, operator.id);
  await fixtures.member(group.id, operator.uid, 'assessment_operator');
  callers = { member, operator, admin, staff };
  setRole = (role) =>
    server.request('PATCH', `/v1/organizations/${organization}`, {
      token: admin.token,
      body: { dismissal_role: role },
    });
});

const bulk = (token: string, body: unknown) =>
  server.request('POST', '/v1/vulnerabilities/bulk_update', { token, body });

/** Each request dismisses a vulnerability, or would let an import do so. */
const DISMISSALS: Readonly<Record<string, (token: string) => Promise<TestResponse>>> = {
  'update (5)': async (token) => {
    const { id } = await fixtures.vulnerability(assessment);
    return server.request('PATCH', `/v1/vulnerabilities/${id}`, {
      token,
      body: { status_id: ACCEPTED_RISK },
    });
  },
  'creation (18)': (token) =>
    server.request('POST', '/v1/vulnerabilities', {
      token,
      body: { assessment_id: assessment, title: 'T', severity: 'Low', status_id: ACCEPTED_RISK },
    }),
  'replacement (19)': async (token) => {
    const { id } = await fixtures.vulnerability(assessment);
    const body = { assessment_id: assessment, title: 'T', severity: 'Low', status_id: ACCEPTED_RISK };
    return server.request('PUT', `/v1/vulnerabilities/${id}`, { token, body });
  },
  'bulk update (30)': async (token) => {
    const { id } = await fixtures.vulnerability(assessment);
    return bulk(token, { ids: [id], set: { status_id: ACCEPTED_RISK }, comment: 'Accepted.' });
  },
  'undo of a bulk update (30)': async (token) => {
    const { id } = await fixtures.vulnerability(assessment, { statusId: ACCEPTED_RISK });
    const reopened = await bulk(token, { ids: [id], set: { status_id: 1 } });
    expect([reopened.status, reopened.body.updated_count]).toEqual([200, 1]);
    return bulk(token, { undo: reopened.headers.get('x-request-id') });
  },
  'import with carry (65)': (token) =>
    uploadReport(server, token, '{}', { assessment_id: assessment, format: 'nuclei', carry: 'true' }),
};

describe('dismissal_role', () => {
  describe.each(Object.entries(DISMISSALS))('%s', (_name, dismiss) => {
    it.each([
      ['assessment_member', []],
      ['assessment_operator', ['member']],
      ['admin', ['member', 'operator']],
    ])('with %s is a 403 for %j', async (role, refused) => {
      expect((await setRole(role)).status).toBe(200);
      for (const [name, { token }] of Object.entries(callers)) {
        const { status, body } = await dismiss(token);
        expect([name, Math.floor(status / 100)]).toEqual([name, refused.includes(name) ? 4 : 2]);
        if (refused.includes(name))
          expect([status, body.type]).toEqual([403, expect.stringMatching(/forbidden$/)]);
      }
    });
  });

  it('does not concern other statuses, nor a dismissal that stays', async () => {
    await setRole('admin');
    const { token } = callers.member;
    const { id } = await fixtures.vulnerability(assessment, { statusId: ACCEPTED_RISK });
    for (const status_id of [ACCEPTED_RISK, 1, 5]) {
      const { status } = await server.request('PATCH', `/v1/vulnerabilities/${id}`, {
        token,
        body: { status_id },
      });
      expect([status_id, status]).toEqual([status_id, 200]);
    }
  });
});
