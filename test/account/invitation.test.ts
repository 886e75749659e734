import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { invitationUrl } from '../../src/auth/account-links.ts';
import { verifyPassword } from '../../src/auth/passwords.ts';
import { randomText } from '../../src/auth/secrets.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { renewInvitation } from '../../src/domain/users/invitations.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const WEEK = 7 * 86_400_000;
const PASSWORD = 'correct horse battery staple';
const DEAD = 'This invitation is no longer valid';

let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);

const row = (id: number) =>
  server.context.db.read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();

/** Creates an invited user of an organization. @returns the user and the path of their link */
async function newInvitation() {
  const organization = await fixtures.organization();
  const invited = await fixtures.invited({ organization: organization.uid });
  return { ...invited, organization, path: linkOf(invited.uid, now) };
}

const linkOf = (uid: string, invitedAt: number) =>
  invitationUrl('', server.context.keys.secret, { uid, invitedAt });

async function accept(visitor: FormClient, path: string, fields: Record<string, string> = {}) {
  const page = await visitor.open(path);
  return visitor.submit(page, { name: 'Ada Lovelace', password: PASSWORD, ...fields }, '/invitation');
}

describe('Invitation', () => {
  it('shows the invited address and the organization', async () => {
    const { path, email, organization } = await newInvitation();
    const page = await createFormClient(server).get(path);
    expect(page.status).toBe(200);
    expect(page.text).toContain(email);
    expect(page.text).toContain(organization.name);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).toContain('/assets/clean-address.js');
  });

  it('is accepted with a name and a password, signs in, and redirects to the account', async () => {
    const { path, id, email } = await newInvitation();
    const visitor = createFormClient(server);
    const response = await accept(visitor, path, { name: '  Ada Lovelace ' });
    expect(response.status).toBe(303);
    expect(response.location).toBe(`${server.origin}/`);
    expect((await visitor.get('/account')).text).toContain('Ada Lovelace');
    const user = await row(id);
    expect(user).toMatchObject({ name: 'Ada Lovelace', accepted_at: now });
    expect(await verifyPassword(user?.password_hash ?? null, PASSWORD)).toBe(true);
    expect((await createFormClient(server).signIn(email, PASSWORD)).status).toBe(303);
    const events = (await fixtures.auditEvents()).filter((event) => event.user_id === id);
    expect(events.slice(0, 2)).toMatchObject([
      { action: 'user.accept-invitation', object_id: String(id), after: '{"name":"Ada Lovelace"}' },
      { action: 'session.start', after: JSON.stringify({ user: id, method: 'invitation' }) },
    ]);
  });

  it('redirects to the second factor if the organization requires one', async () => {
    const { path, organization } = await newInvitation();
    await server.context.db.write((tx) =>
      tx
        .updateTable('organizations')
        .set({ require_second_factor: 1 })
        .where('id', '=', organization.id)
        .execute(),
    );
    const visitor = createFormClient(server);
    const response = await accept(visitor, path);
    expect(response.location).toBe(`${server.origin}/sign-in/second-factor?to=%2F`);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('signs out the previous user of the browser', async () => {
    const otherAccount = await fixtures.account();
    const visitor = createFormClient(server);
    await visitor.signIn(otherAccount.email, otherAccount.password);
    const { path, email, id } = await newInvitation();
    await accept(visitor, path);
    expect((await visitor.get('/account')).text).toContain(email);
    const { read } = server.context.db;
    expect(
      await read.selectFrom('sessions').selectAll().where('user_id', '=', otherAccount.id).execute(),
    ).toEqual([]);
    const [accepted] = (await fixtures.auditEvents()).filter(
      (event) => event.object_id === String(id) && event.action === 'user.accept-invitation',
    );
    expect(accepted?.user_id).toBe(id);
  });

  it('stays valid when an operator creates a token for the user', async () => {
    const { path, id, email } = await newInvitation();
    const { token } = await fixtures.token(id);
    expect((await row(id))?.accepted_at).toBeNull();
    const response = await accept(createFormClient(server), path);
    expect(response.location).toBe(`${server.origin}/`);
    expect((await createFormClient(server).signIn(email, PASSWORD)).status).toBe(303);
    const call = await server.request('GET', '/v1/assessments/nothing/testing_hours', { token });
    expect(call.status).toBe(404);
  });

  it('ends with a ban, and cannot be renewed then', async () => {
    const { path, id } = await newInvitation();
    await fixtures.token(id);
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), id));
    expect((await createFormClient(server).get(path)).status).toBe(410);
    await expect(
      server.context.db.write((tx) => renewInvitation(tx, cliChangeContext(now), id)),
    ).rejects.toMatchObject({ kind: 'forbidden', message: 'This user is banned.' });
  });

  it('is accepted once: the link then returns 410', async () => {
    const { path, id } = await newInvitation();
    const lateBrowser = createFormClient(server);
    const page = await lateBrowser.open(path);
    await accept(createFormClient(server), path);
    const { password_hash } = (await row(id)) ?? {};
    const response = await lateBrowser.submit(
      page,
      { name: 'Eve', password: 'another four random words' },
      '/invitation',
    );
    expect(response.status).toBe(410);
    expect(response.text).toContain(DEAD);
    expect(await row(id)).toMatchObject({ name: 'Ada Lovelace', password_hash });
    expect((await createFormClient(server).get(path)).status).toBe(410);
  });

  it('is accepted once when submitted concurrently', async () => {
    const { path, id } = await newInvitation();
    const visitors = Array.from({ length: 4 }, () => createFormClient(server));
    // A page opened after the first acceptance has no form.
    const pages = await Promise.all(visitors.map((visitor) => visitor.open(path)));
    const responses = await Promise.all(
      visitors.map((visitor, index) =>
        visitor.submit(pages[index]!, { name: `Name ${index}`, password: PASSWORD }, '/invitation'),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410]);
    const winner = responses.findIndex(({ status }) => status === 303);
    expect(await row(id)).toMatchObject({ name: `Name ${winner}` });
  });

  it('expires after a week', async () => {
    const { path, id } = await newInvitation();
    now += WEEK - 1;
    const visitor = createFormClient(server);
    const page = await visitor.open(path);
    expect(page.status).toBe(200);
    now += 1;
    const response = await visitor.submit(page, { name: 'Ada', password: PASSWORD }, '/invitation');
    expect(response.status).toBe(410);
    expect((await visitor.get(path)).status).toBe(410);
    expect(await row(id)).toMatchObject({ accepted_at: null, password_hash: null });
  });

  it('gets a new link when it is renewed, and the old one returns 404', async () => {
    const { path, id, uid } = await newInvitation();
    now += WEEK;
    const renewed = await server.context.db.write((tx) => renewInvitation(tx, cliChangeContext(now), id));
    const repeated = await server.context.db.write((tx) => renewInvitation(tx, cliChangeContext(now), id));
    expect(repeated.invitedAt).toBeGreaterThan(renewed.invitedAt);
    for (const dead of [path, linkOf(uid, renewed.invitedAt)])
      expect((await createFormClient(server).get(dead)).status).toBe(404);
    expect((await accept(createFormClient(server), linkOf(uid, repeated.invitedAt))).status).toBe(303);
    const events = (await fixtures.auditEvents()).filter(
      ({ action, object_id }) => action === 'user.invite' && object_id === String(id),
    );
    expect(events).toHaveLength(2);
    await expect(
      server.context.db.write((tx) => renewInvitation(tx, cliChangeContext(now), id)),
    ).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('reveals nothing without the right secret', async () => {
    const { uid, path } = await newInvitation();
    const accepted = await fixtures.account();
    const body = async (token: string) => {
      const page = await createFormClient(server).get(`/invitation?token=${token}`);
      return { status: page.status, text: page.text.replace(/value="[^"]*"/g, '') };
    };
    const unknown = await body(`unobody.${randomText(43)}`);
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain(DEAD);
    for (const token of [
      `${uid}.${randomText(43)}`,
      `${accepted.uid}.${randomText(43)}`,
      path.split('token=')[1]?.slice(0, -1) ?? '',
      `${path.split('token=')[1]}x`,
      '%00.a',
      '',
    ]) {
      expect(await body(token)).toEqual(unknown);
    }
    expect((await createFormClient(server).get('/invitation')).status).toBe(404);
  });

  it('returns 404 for a deleted user', async () => {
    const { path, id } = await newInvitation();
    await server.context.db.write((tx) => tx.deleteFrom('users').where('id', '=', id).execute());
    expect((await createFormClient(server).get(path)).status).toBe(404);
  });

  it('requires no password if the organization uses single sign-on only', async () => {
    const { path, id, organization } = await newInvitation();
    const visitor = createFormClient(server);
    const form = await visitor.open(path);
    await fixtures.ssoOnly(organization.uid);
    expect((await visitor.get(path)).text).toContain('href="/sign-in/organization"');
    const response = await visitor.submit(form, { name: 'Ada', password: PASSWORD }, '/invitation');
    expect(response.text).toContain('href="/sign-in/organization"');
    expect(await row(id)).toMatchObject({ accepted_at: null, password_hash: null });
  });

  it.each([
    [{ name: '  ' }, 'Your name must not be empty.'],
    [{ name: 'x'.repeat(256) }, 'at most 255 characters'],
    [{ password: 'too short' }, 'at least 12 characters'],
    [{ password: 'x'.repeat(300) }, 'at most 256 characters'],
    [{ password: 'password1234' }, 'too easy to guess'],
  ])('shows the form again for %j', async (fields: Record<string, string>, words) => {
    const { path, id } = await newInvitation();
    const response = await accept(createFormClient(server), path, fields);
    expect(response.status).toBe(422);
    expect(response.text).toContain(words);
    if (fields['name'] === undefined) expect(response.text).toContain('value="Ada Lovelace"');
    expect(response.text).not.toContain(fields['password'] ?? PASSWORD);
    expect(await row(id)).toMatchObject({ accepted_at: null });
  });

  it('rejects a password made of the name', async () => {
    const { path } = await newInvitation();
    const response = await accept(createFormClient(server), path, { password: 'AdaLovelace1' });
    expect(response.status).toBe(422);
  });

  it('rejects a form without its CSRF token', async () => {
    const { path } = await newInvitation();
    const token = path.split('token=')[1] ?? '';
    const response = await createFormClient(server).post('/invitation', {
      token,
      name: 'Eve',
      password: PASSWORD,
    });
    expect(response.status).toBe(403);
  });

  it('logs no secret of the link', async () => {
    const { path } = await newInvitation();
    await accept(createFormClient(server), path);
    const token = path.split('token=')[1] ?? '';
    expect(JSON.stringify(server.logs())).not.toContain(token.split('.')[1]);
  });
});
