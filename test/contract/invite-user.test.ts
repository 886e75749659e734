import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMailbox } from '../harness/mailbox.ts';
import { startSecondServer, startTestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
let now = NOW;

let organization: { id: number; uid: string };
let admin: TestUser;
let counter = 0;
const mailbox = await startMailbox();
const server = await startSecondServer(await useSharedServer(() => now), {
  clientBaseUrl: 'https://gateway.example',
});
const mailing = await startTestServer({
  smtpUrl: mailbox.url,
  mailFrom: 'assay@example.com',
  clientBaseUrl: 'https://gateway.example',
});
const fixtures = createFixtures(server);
afterAll(async () => {
  await Promise.all([server.close(), mailing.close()]);
  await mailbox.close();
});
beforeEach(async () => {
  now = NOW;
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const address = () => `new${(counter += 1)}@Example.com`;
const invite = (body: object, token = admin.token, headers = {}) =>
  server.request('POST', '/v1/users', { token, body, headers });
const invalidProperties = ({ body }: { body: any }) =>
  body.failedValidation.map(({ property }: { property: string }) => property);

describe('Operation 54: invite a user', () => {
  it('returns 201 with the user, the link and the Location', async () => {
    const [firstAssessment, secondAssessment] = [
      await fixtures.assessment(organization.uid),
      await fixtures.assessment(organization.uid),
    ];
    const email = address();
    const response = await invite({
      email,
      name: ' Ada ',
      admin: false,
      assessments: [secondAssessment.uid, firstAssessment.uid, secondAssessment.uid],
    });
    const { id } = response.body;
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        uid: expect.stringMatching(/^u\w{15}$/),
        name: 'Ada',
        email,
        organization_uid: organization.uid,
        assessment_ids: [firstAssessment.uid, secondAssessment.uid].sort(),
        accessible_assessment_ids: [firstAssessment.uid, secondAssessment.uid].sort(),
        banned: false,
        staff: false,
        admin: false,
        invite_url: expect.stringMatching(/^https:\/\/gateway\.example\/invitation\?token=u/),
        last_seen_at: null,
        second_factor: false,
      },
    ]);
    expect(new URL(response.headers.get('location') ?? '').pathname).toBe(`/v1/users/${id}`);
    const read = await server.request('GET', `/v1/users/${id}`, { token: admin.token });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get('etag')).toBe(response.headers.get('etag'));
  });

  it('records the user and the granted access', async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    const response = await invite({ email: address(), name: 'Ada', admin: true, assessments: [uid] });
    const events = (await fixtures.auditEvents()).filter(
      ({ request_id }) => request_id === response.headers.get('x-request-id'),
    );
    expect(events.map(({ action, before, after }) => [action, before, JSON.parse(after ?? '')])).toEqual([
      [
        'user.create',
        null,
        {
          uid: response.body.uid,
          email: response.body.email,
          name: 'Ada',
          admin: true,
          staff: false,
          assigned_to: [],
          assessments: [uid],
        },
      ],
      ['assessment.grant', null, { user: response.body.id, role: 'assessment_member' }],
    ]);
  });

  it.each([
    [{ first_name: 'Ada', last_name: 'Lovelace' }, 'Ada Lovelace'],
    [{ last_name: 'Lovelace' }, 'Lovelace'],
    [{ name: 'Ada', first_name: 'Bob' }, 'Ada'],
    [{ name: null }, null],
    [{}, null],
  ])('uses the name of %j', async (names, name) => {
    expect((await invite({ email: address(), ...names })).body.name).toBe(name);
  });

  it('returns the same 409 for an address of any organization, regardless of case', async () => {
    const outsider = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const { status, body } = await invite({ email: outsider.email.toUpperCase() });
    expect(status).toBe(409);
    expect(body.failedValidation).toEqual([
      { property: 'email', message: 'is already taken', value: outsider.email.toUpperCase() },
    ]);
    // Assessments are validated first.
    expect((await invite({ email: outsider.email, assessments: ['none'] })).status).toBe(422);
  });

  it('returns 422 for invalid addresses, names and assessments, and invites no one', async () => {
    const { uid } = await fixtures.assessment((await fixtures.organization()).uid);
    const ownAssessment = await fixtures.assessment(organization.uid);
    expect(invalidProperties(await invite({ name: 'Ada' }))).toEqual(['email']);
    expect(invalidProperties(await invite({ email: 'nobody' }))).toEqual(['email']);
    expect(invalidProperties(await invite({ email: address(), name: '\u2800' }))).toEqual(['name']);
    const email = address();
    const foreign = await invite({ email, assessments: [ownAssessment.uid, uid, 'none'] });
    expect([foreign.status, foreign.body.failedValidations]).toEqual([
      422,
      [1, 2].map((index) => ({
        index,
        failedValidation: [expect.objectContaining({ property: `assessments.${index}` })],
      })),
    ]);
    expect((await invite({ email })).status).toBe(201);
    const tooMany = { email: address(), assessments: Array(1_001).fill('a') };
    expect((await invite(tooMany)).status).toBe(413);
  });

  it('allows admins, in their own organization only', async () => {
    const user = await fixtures.user({ organization: organization.uid });
    expect((await invite({ email: address(), organization_uid: 'none' }, user.token)).status).toBe(403);
    // Validation comes before authorization.
    expect(invalidProperties(await invite({ email: 'nobody', name: ' ' }, user.token))).toEqual([
      'email',
      'name',
    ]);
    const inOwnOrganization = await invite({ email: address(), organization_uid: organization.uid });
    expect(inOwnOrganization.status).toBe(201);
    const otherOrganization = await fixtures.organization();
    const rejected = await invite({ email: address(), organization_uid: otherOrganization.uid });
    expect([rejected.status, invalidProperties(rejected)]).toEqual([422, ['organization_uid']]);
  });

  it('requires staff to name a visible organization', async () => {
    const staff = await fixtures.user();
    const assigned = await fixtures.user({ assignedTo: [(await fixtures.organization()).uid] });
    const inviteInto = (token: string, organization_uid?: string) =>
      invite({ email: address(), organization_uid }, token);
    expect((await inviteInto(staff.token, organization.uid)).body.organization_uid).toBe(organization.uid);
    for (const response of [
      await inviteInto(staff.token),
      await inviteInto(staff.token, 'none'),
      await inviteInto(assigned.token, organization.uid),
    ])
      expect([response.status, invalidProperties(response)]).toEqual([422, ['organization_uid']]);
    expect((await inviteInto(staff.token)).body.failedValidation).toEqual([
      { property: 'organization_uid', message: 'is required' },
    ]);
  });

  it('invites once per idempotency key, and creates a new link for a repeat, as links are not stored', async () => {
    const headers = { 'idempotency-key': `invite-${counter}` };
    const body = { email: address() };
    const first = await invite(body, admin.token, headers);
    const second = await invite(body, admin.token, headers);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const storedKeys = await server.context.db.read.selectFrom('idempotency_keys').select('body').execute();
    expect(storedKeys.some(({ body: text }) => text.includes('invitation?token'))).toBe(false);
    const accepted = await server.context.db.write((tx) =>
      tx.updateTable('users').set({ accepted_at: NOW }).where('id', '=', first.body.id).execute(),
    );
    expect(accepted).toHaveLength(1);
    expect((await invite(body, admin.token, headers)).body.invite_url).toBeNull();
  });

  it('mails the link if mail is configured, unless the request disables it', async () => {
    const mailingFixtures = createFixtures(mailing);
    const { uid } = await mailingFixtures.organization();
    // A name from before the rule for names.
    await mailing.context.db.write((tx) =>
      tx
        .updateTable('organizations')
        .set({ name: 'Acme".\r\nSubject: x\u2028"' })
        .where('uid', '=', uid)
        .execute(),
    );
    const { token } = await mailingFixtures.user({ organization: uid, admin: true });
    const send = (body: object) => mailing.request('POST', '/v1/users', { token, body });
    const silent = await send({ email: 'silent@example.com', send_invite: false });
    expect(silent.status).toBe(201);
    const mailed = await send({ email: 'told@example.com' });
    const mail = await mailbox.next();
    expect(mail).toMatchObject({ to: ['told@example.com'], link: mailed.body.invite_url });
    expect(mail.content).toContain(`You have been invited to Assay by "Acme'. Subject: x '".\r\n`);
    expect(mail.content.match(/^Subject: .*$/gm)).toEqual(['Subject: Your invitation to Assay']);
    expect(mailbox.received).toHaveLength(1);
    const jobs = await mailing.context.db.read.selectFrom('jobs').select('payload').execute();
    expect(jobs.some(({ payload }) => payload.includes('invitation?token'))).toBe(false);
  });

  describe('of an address that is taken', () => {
    const foreign = async () =>
      (await fixtures.user({ organization: (await fixtures.organization()).uid, email: address() })).email;
    const refusals = async () =>
      (await fixtures.auditEvents())
        .filter(
          ({ action, organization_id }) =>
            action === 'invitation.refuse' && organization_id === organization.id,
        )
        .map(({ user_id, after }) => [user_id, JSON.parse(after ?? '').email]);
    /** Invites addresses of others until the status changes. */
    async function exhaust(token: string, limit: number) {
      const email = await foreign();
      const statuses = [];
      for (let count = 0; count < limit; count += 1) statuses.push((await invite({ email }, token)).status);
      expect(new Set(statuses)).toEqual(new Set([409]));
      return email;
    }

    it('returns 409, which the audit log of the organization records', async () => {
      const email = await foreign();
      const { status, body } = await invite({ email });
      expect([status, body.failedValidation[0].property]).toEqual([409, 'email']);
      expect(await refusals()).toEqual([[admin.id, email]]);
    });

    it('returns 429 to every invitation of an account after 20 within an hour', async () => {
      await exhaust(admin.token, 20);
      const rejected = await invite({ email: address() });
      expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '3600']);
      expect(rejected.body.detail).toContain('Try again in 60 minutes.');
      expect(await refusals()).toHaveLength(20);
      const colleague = await fixtures.user({ organization: organization.uid, admin: true });
      expect((await invite({ email: address() }, colleague.token)).status).toBe(201);
      now += 3_600_000;
      expect((await invite({ email: address() })).status).toBe(201);
    });

    it('returns 429 to every invitation into an organization after 100 within an hour', async () => {
      for (let count = 0; count < 5; count += 1) {
        const { token } = await fixtures.user({ organization: organization.uid, admin: true });
        await exhaust(token, 20);
      }
      expect((await invite({ email: address() })).status).toBe(429);
      const otherOrganization = await fixtures.organization();
      const otherUser = await fixtures.user({ organization: otherOrganization.uid, admin: true });
      expect((await invite({ email: address() }, otherUser.token)).status).toBe(201);
    });

    it('counts concurrent requests, and reveals no more to them', async () => {
      const email = await foreign();
      const statuses = await Promise.all(
        Array.from({ length: 30 }, async () => (await invite({ email })).status),
      );
      expect(statuses.filter((status) => status === 409)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    });

    it('does not count users of the organization, nor repeats with an idempotency key', async () => {
      const { email } = await fixtures.user({ organization: organization.uid });
      for (let count = 0; count < 21; count += 1) expect((await invite({ email })).status).toBe(409);
      const invited = { email: address() };
      const headers = { 'idempotency-key': 'again' };
      for (let count = 0; count < 22; count += 1)
        expect((await invite(invited, admin.token, headers)).status).toBe(201);
      expect(await refusals()).toEqual([]);
    });

    it('returns the same 409 if another organization signs in users of its domain', async () => {
      const { uid, id } = await fixtures.organization();
      await fixtures.ssoOnly(uid);
      const domain = `${uid}.example`;
      await server.context.db.write((tx) =>
        tx.insertInto('identity_provider_domains').values({ domain, organization_id: id }).execute(),
      );
      const email = `Someone@${domain.toUpperCase()}`;
      const { status, body } = await invite({ email });
      expect([status, body.detail]).toEqual([409, `A user with the address ${email} already exists.`]);
      expect(await refusals()).toEqual([[admin.id, email]]);
      const ownUser = await fixtures.user({ organization: uid, admin: true });
      expect((await invite({ email }, ownUser.token)).status).toBe(201);
    });
  });
});
