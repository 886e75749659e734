import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const now = Date.UTC(2026, 5, 1, 9, 30);
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);

async function visitorFor(account: { email: string; password: string }) {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return visitor;
}

describe('Account page', () => {
  it('shows the user, the time of the sign-in, and what can act for the account', async () => {
    const { uid, name } = await fixtures.organization();
    const account = await fixtures.account({ organization: uid, admin: true, name: 'Ada Lovelace' });
    await fixtures.token(account.id);
    await fixtures.token(account.id);
    await visitorFor(account);
    const { text } = await (await visitorFor(account)).get('/account');
    for (const words of [
      '<span class="cut">Ada Lovelace</span>',
      account.email,
      name,
      'Admin',
      'title="2026-06-01 09:30:00 UTC">just now<',
      'with a password',
      '2 browsers',
      '2 tokens',
      '0 applications',
      'Off: a password alone signs in to this account',
    ]) {
      expect(text).toContain(words);
    }
  });

  it('links to the documentation', async () => {
    const { text } = await (await visitorFor(await fixtures.account())).get('/account');
    expect(text).toMatch(/<a [^>]*href="\/docs">.*API reference<\/a>/);
  });

  it('has the navigation of the console, as far as the user may read it', async () => {
    const { uid, name } = await fixtures.organization();
    const navigation = async (account: { email: string; password: string }) => {
      const { text } = await (await visitorFor(account)).get('/account');
      return /<nav class="side".*?<\/nav>/s.exec(text)?.[0] ?? '';
    };
    const member = await navigation(await fixtures.account({ organization: uid }));
    const admin = await navigation(await fixtures.account({ organization: uid, admin: true }));
    const staff = await navigation(await fixtures.account());
    for (const path of ['/', '/vulnerabilities', '/assets', '/assessments', '/imports', '/tags', '/groups'])
      for (const links of [member, admin, staff]) expect(links).toContain(`href="${path}"`);
    for (const path of ['/people', '/audit']) {
      expect(member).not.toContain(`href="${path}"`);
      expect(admin).toContain(`href="${path}"`);
      expect(staff).toContain(`href="${path}"`);
    }
    expect(member).toContain(name);
    expect(staff).toContain('All organizations');
    expect(
      [member, admin, staff].map((links) => /<\/span><span class="detail">(\w+)</.exec(links)?.[1]),
    ).toEqual([undefined, 'Admin', 'Staff']);
  });

  it.each(['/account/nothing', '/sign-in/nothing'])('returns a 404 page for %s', async (path) => {
    const { status, headers, text } = await createFormClient(server).get(path);
    expect(status).toBe(404);
    expect(headers.get('content-type')).toContain('text/html');
    expect(text).toContain(`There is nothing at ${path}.`);
  });

  it('hides the password section for accounts without one', async () => {
    const account = await fixtures.account();
    const visitor = await visitorFor(account);
    await server.context.db.write((tx) =>
      tx.updateTable('users').set({ password_hash: null }).where('id', '=', account.id).execute(),
    );
    expect((await visitor.get('/account')).text).toContain('Not used: your organization signs you in');
  });

  it('has a title for users without a name', async () => {
    const { text } = await (await visitorFor(await fixtures.account())).get('/account');
    expect(text).toContain('<h1>Your account</h1>');
    expect(text).toContain('Platform staff');
  });

  it('changes the name', async () => {
    const account = await fixtures.account();
    const visitor = await visitorFor(account);
    const page = await visitor.open('/account');
    const response = await visitor.submit(page, { name: ' <b>Ada</b> & co ' }, '/account/name');
    const after = await visitor.open(response.location ?? '');
    expect(after.text).toContain('Name updated.');
    expect(after.text).toContain('&lt;b>Ada&lt;/b> &amp; co');
    const event = (await fixtures.auditEvents()).findLast(({ action }) => action === 'user.rename');
    expect(event).toMatchObject({
      user_id: account.id,
      before: '{"name":null}',
      after: '{"name":"<b>Ada</b> & co"}',
    });
  });

  it('removes bidirectional control characters from a name', async () => {
    const visitor = await visitorFor(await fixtures.account());
    const page = await visitor.open('/account');
    await visitor.submit(page, { name: 'Ada \u202egnp.exe\u2069' }, '/account/name');
    expect((await visitor.get('/account')).text).toContain('<span class="cut">Ada  gnp.exe</span>');
  });

  it.each([
    ['   ', 'The name must not be empty.'],
    ['x'.repeat(256), 'at most 255 characters'],
    ['\u202e\u2066', 'The name must not be empty.'],
    ['two\nlines', 'The name must not contain line breaks, other control characters or unpaired surrogates.'],
    ['\u200b\u3164\u2800', 'The name must contain a visible character.'],
  ])('rejects the name "%s"', async (name, words) => {
    const visitor = await visitorFor(await fixtures.account({ name: 'Ada' }));
    const response = await visitor.submit(await visitor.open('/account'), { name }, '/account/name');
    expect(response.status).toBe(422);
    expect(response.text).toContain(words);
    expect((await visitor.get('/account')).text).toContain('<span class="cut">Ada</span>');
  });
});
