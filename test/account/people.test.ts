import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const PATH = '/account/people';
const NEXT = 'a wholly different pass phrase';

let server: TestServer;
let world: ReturnType<typeof createFixtures>;
let organization: string;
let admin: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let visitor: FormClient;
const now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await useSharedServer(() => now);
  world = createFixtures(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  organization = (await world.organization()).uid;
  admin = await world.account({ organization, admin: true });
  visitor = await signedIn(admin);
});

async function signedIn(account: { email: string; password: string }): Promise<FormClient> {
  const browser = createFormClient(server);
  await browser.signIn(account.email, account.password);
  return browser;
}

type Deed = 'password-link' | 'invitation' | 'ban';

/** Does something on the page of a person. */
async function deed(uid: string, what: Deed, by = visitor) {
  const page = await by.open(`${PATH}/${uid}`);
  return by.submit(page, {}, `${PATH}/${uid}/${what}`);
}

/** Sends what the page of a person sends, whether or not the page has such a form. */
async function force(uid: string, what: Deed, by = visitor) {
  const csrf = /name="_csrf" value="([^"]*)"/.exec((await by.open('/account')).text)?.[1] ?? '';
  return by.post(`${PATH}/${uid}/${what}`, { _csrf: csrf });
}

/** The path of the link that a page shows. */
function linkIn(text: string): string {
  const url = /<code class="secret">([^<]*)<\/code>/.exec(text)?.[1] ?? '';
  expect(url.startsWith(server.origin)).toBe(true);
  return url.slice(server.origin.length);
}

/** What the rows of a list say, without markup. */
const rowsIn = (text: string) =>
  [...text.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );

const stateOf = async (id: number) =>
  server.context.db.read.selectFrom('users').select('banned_at').where('id', '=', id).executeTakeFirst();

describe('The list of people', () => {
  it('tells name, role, second factor, state and last seen of everybody in the organization', async () => {
    const active = await world.account({ organization, email: 'b@people.example', name: 'Bo Ng' });
    await signedIn(active);
    await world.invited({ organization, email: 'c@people.example' });
    const banned = await world.user({ organization, email: 'd@people.example', admin: true });
    await deed(banned.uid, 'ban');
    await world.account({ organization: (await world.organization()).uid });
    const { text } = await visitor.get(PATH);
    expect(rowsIn(text).sort()).toEqual(
      [
        'Bo Ng b@people.example User Off Active just now',
        'c@people.example User Off Invited Never',
        'd@people.example Admin Off Banned Never',
        `${admin.email} You Admin Off Active just now`,
      ].sort(),
    );
    expect(text).toContain('4 people');
    expect((await visitor.get('/account')).text).toContain(`href="${PATH}">People<`);
  });

  it('counts the use of a token as seen, and tells of a second factor', async () => {
    const user = await world.user({ organization });
    const used = now - 7_200_000;
    await server.context.db.write(async (tx) => {
      await tx.updateTable('tokens').set({ last_used_at: used }).where('user_id', '=', user.id).execute();
      await tx
        .insertInto('totp_secrets')
        .values({ user_id: user.id, sealed_secret: 'sealed', confirmed_at: now, last_step: 0 })
        .execute();
    });
    const { text } = await visitor.get(`${PATH}?q=${encodeURIComponent(user.email)}`);
    expect(rowsIn(text)).toEqual([`${user.email} User On Active 2 hours ago`]);
  });

  it.each([
    ['zo\u00eb', 1],
    ['ZO\u00cb ZI', 1],
    ['HOST.EXAMPLE', 2],
    ['100%_!', 1],
    ['0%', 1],
    ['!', 1],
    ['nobody', 0],
  ])('finds "%s" in names and addresses', async (search, count) => {
    await world.account({ organization, name: 'Zo\u00eb Zimmer', email: `z${organization}@host.example` });
    await world.account({ organization, name: '100%_! Sure', email: `y${organization}@host.example` });
    const { text } = await visitor.get(`${PATH}?${new URLSearchParams({ q: search })}`);
    expect(rowsIn(text)).toHaveLength(count);
    if (count === 0) expect(text).toContain('Nobody has “nobody” in their name or address.');
  });

  it('shows fifty at a time, by address', async () => {
    const [{ id }] = (await server.context.db.read
      .selectFrom('organizations')
      .select('id')
      .where('uid', '=', organization)
      .execute()) as [{ id: number }];
    const people = Array.from({ length: 120 }, (_, index) => {
      const email = `${organization}-${String(index).padStart(3, '0')}@paged.example`;
      const uid = `${organization}u${index}`;
      return { uid, email, email_key: email, organization_id: id, admin: 0, staff: 0, created_at: now };
    });
    await server.context.db.write((tx) => tx.insertInto('users').values(people).execute());
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { text } = await visitor.get(`${PATH}?page=${page}&q=paged.example`);
      expect(text).toContain(`Page ${page} of 3, 120 people`);
      expect(text.includes(`page=${page + 1}">Next<`)).toBe(page < 3);
      pages.push(rowsIn(text).map((row) => row.split(' ')[0]));
    }
    expect(pages.map((page) => page.length)).toEqual([50, 50, 20, 0]);
    expect(pages.flat()).toEqual(people.map(({ email }) => email));
    for (const page of ['0', '-1', 'x', '100001'])
      expect((await visitor.get(`${PATH}?page=${page}`)).status).toBe(400);
  });
});

describe('An admin', () => {
  it('makes a link for a new password, which is shown once', async () => {
    const user = await world.account({ organization });
    const answer = await deed(user.uid, 'password-link');
    expect(answer.status).toBe(200);
    const path = linkIn(answer.text);
    expect((await visitor.open(`${PATH}/${user.uid}`)).text).not.toContain('reset-password?token');
    const browser = createFormClient(server);
    await browser.submit(await browser.open(path), { password: NEXT }, '/reset-password');
    expect((await createFormClient(server).signIn(user.email, NEXT)).status).toBe(303);
    const event = (await world.auditEvents()).findLast(({ action }) => action === 'password-reset.create');
    expect(event).toMatchObject({ user_id: admin.id, object_id: String(user.id) });
  });

  it('renews an invitation, and is told where somebody has accepted it', async () => {
    const invited = await world.invited({ organization });
    const refused = await force(invited.uid, 'password-link');
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Renew the invitation instead.');
    const path = linkIn((await deed(invited.uid, 'invitation')).text);
    const browser = createFormClient(server);
    const answer = await browser.submit(
      await browser.open(path),
      { name: 'Ada', password: NEXT },
      '/invitation',
    );
    expect(answer.status).toBe(303);
    expect((await force(invited.uid, 'invitation')).text).toContain('has accepted the invitation already');
  });

  it('invites someone into the organization, by a link that is shown once', async () => {
    const email = `new-${organization}@people.example`;
    const page = await visitor.open(`${PATH}/invite`);
    const elsewhere = (await world.organization()).uid;
    const fields = { email, name: 'Nia', admin: 'yes', organization: elsewhere };
    const answer = await visitor.submit(page, fields, `${PATH}/invite`);
    expect(answer.status).toBe(200);
    const browser = createFormClient(server);
    const accepted = await browser.submit(
      await browser.open(linkIn(answer.text)),
      { name: 'Nia', password: NEXT },
      '/invitation',
    );
    expect(accepted.status).toBe(303);
    const { text } = await visitor.get(`${PATH}?q=${encodeURIComponent(email)}`);
    expect(rowsIn(text)).toEqual([`Nia ${email} Admin Off Active just now`]);
    const event = (await world.auditEvents()).findLast(({ action }) => action === 'user.create');
    expect(event).toMatchObject({ user_id: admin.id });
  });

  it.each([
    [{ email: 'nowhere' }, 'must be an e-mail address'],
    [{ email: 'x@people.example', name: 'n'.repeat(256) }, '255'],
  ])('does not invite %j', async (fields: Record<string, string>, words) => {
    const answer = await visitor.submit(await visitor.open(`${PATH}/invite`), fields, `${PATH}/invite`);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain(words);
    expect(answer.text).not.toContain('token=');
  });

  it('does not invite who is here already, and keeps what was typed', async () => {
    const { email } = await world.account({ organization });
    const page = await visitor.open(`${PATH}/invite`);
    const answer = await visitor.submit(page, { email, name: 'Kim' }, `${PATH}/invite`);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('already');
    expect(answer.text).toContain('value="Kim"');
  });

  it('bans, after saying what that does', async () => {
    const user = await world.account({ organization });
    const browser = await signedIn(user);
    expect((await visitor.open(`${PATH}/${user.uid}`)).text).toContain('A ban ends sessions');
    const answer = await deed(user.uid, 'ban');
    expect(answer.location).toBe(`${server.origin}${PATH}?done=banned`);
    expect((await visitor.open(answer.location ?? '')).text).toContain('They are banned');
    expect((await stateOf(user.id))?.banned_at).toBe(now);
    expect((await browser.get('/account')).status).toBe(303);
    const page = await visitor.open(`${PATH}/${user.uid}`);
    expect(page.text).not.toMatch(/action="[^"]*\/(ban|password-link|invitation)"/);
    expect((await force(user.uid, 'password-link')).text).toContain('This user is banned');
  });

  it('deletes by a ban who never signed in', async () => {
    const invited = await world.invited({ organization });
    const answer = await deed(invited.uid, 'ban');
    expect((await visitor.open(answer.location ?? '')).text).toContain('are deleted');
    expect(await stateOf(invited.id)).toBeUndefined();
  });

  it('sees nobody of another organization, nor of the staff: they look like nobody at all', async () => {
    const elsewhere = (await world.organization()).uid;
    const plain = (text: string) =>
      text.replace(/value="[^"]*"|<code>[^<]*<\/code>/g, '').replaceAll(/u\w{15}/g, '');
    const answers = [];
    for (const uid of [
      'unobodyunobodyu1',
      (await world.account({ organization: elsewhere })).uid,
      (await world.invited({ organization: elsewhere })).uid,
      (await world.account()).uid,
    ]) {
      const { status, text } = await visitor.get(`${PATH}/${uid}`);
      answers.push({ status, text: plain(text) });
      for (const what of ['password-link', 'invitation', 'ban'] as const) {
        const answer = await force(uid, what);
        answers.push({ status: answer.status, text: plain(answer.text) });
      }
    }
    for (const answer of answers) {
      expect(answer).toEqual(answers[0]);
      expect(answer.status).toBe(404);
    }
  });

  it.each(['password-link', 'invitation', 'ban'] as const)(
    'does not do this to themselves: %s',
    async (what) => {
      const answer = await force(admin.uid, what);
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('This is your own account.');
      expect((await stateOf(admin.id))?.banned_at).toBeNull();
    },
  );

  it('is told that a provider signs them in', async () => {
    const user = await world.account({ organization });
    await world.ssoOnly(organization);
    expect((await deed(user.uid, 'password-link')).text).toContain('has no password here');
  });
});

describe('Platform staff', () => {
  it('look after client users of every organization, and no other staff', async () => {
    const staff = await signedIn(await world.account());
    const user = await world.account({ organization });
    linkIn((await deed(user.uid, 'password-link', staff)).text);
    const { text } = await staff.get(`${PATH}?q=${encodeURIComponent(user.email)}`);
    expect(rowsIn(text)).toEqual([`${user.email} Organization ${organization} User Off Active Never`]);
    const colleague = await world.account();
    expect((await staff.get(`${PATH}/${colleague.uid}`)).status).toBe(404);
    expect(rowsIn((await staff.get(`${PATH}?q=${encodeURIComponent(colleague.email)}`)).text)).toEqual([]);
  });

  it('do not ban the last admin', async () => {
    const staff = await signedIn(await world.account());
    const answer = await deed(admin.uid, 'ban', staff);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('last admin');
    expect((await stateOf(admin.id))?.banned_at).toBeNull();
  });

  it('invite into an organization that they name, and that is there', async () => {
    const staff = await signedIn(await world.account());
    const page = await staff.open(`${PATH}/invite`);
    const email = `hired-${organization}@people.example`;
    const refused = await staff.submit(page, { email, organization: 'nothing' }, `${PATH}/invite`);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('is not the uid of an organization that you manage');
    linkIn((await staff.submit(page, { email, organization }, `${PATH}/invite`)).text);
  });

  it('are confined to the organizations that they are assigned to', async () => {
    const other = (await world.organization()).uid;
    const staff = await signedIn(await world.account({ assignedTo: [other] }));
    const theirs = await world.account({ organization: other });
    const user = await world.account({ organization });
    const list = (await staff.get(PATH)).text;
    expect(rowsIn(list)).toHaveLength(1);
    expect(list).toContain('1 person<');
    expect((await staff.get(`${PATH}/${theirs.uid}`)).status).toBe(200);
    expect((await staff.get(`${PATH}/${user.uid}`)).status).toBe(404);
    for (const what of ['password-link', 'invitation', 'ban'] as const)
      expect((await force(user.uid, what, staff)).status).toBe(404);
    const page = await staff.open(`${PATH}/invite`);
    const fields = { email: `out-${organization}@people.example`, organization };
    expect((await staff.submit(page, fields, `${PATH}/invite`)).status).toBe(422);
    expect((await stateOf(user.id))?.banned_at).toBeNull();
  });
});

describe('Everybody else', () => {
  it('has no such page, nor a link to it', async () => {
    const user = await world.account({ organization });
    const browser = await signedIn(user);
    for (const path of [PATH, `${PATH}/invite`, `${PATH}/${admin.uid}`, `${PATH}/${user.uid}`])
      expect((await browser.get(path)).status).toBe(404);
    for (const path of ['/account', '/']) expect((await browser.get(path)).text).not.toContain(PATH);
    for (const what of ['password-link', 'invitation', 'ban'] as const)
      expect((await force(admin.uid, what, browser)).status).toBe(404);
    const csrf = /name="_csrf" value="([^"]*)"/.exec((await browser.open('/account')).text)?.[1] ?? '';
    const invited = await browser.post(`${PATH}/invite`, { _csrf: csrf, email: 'x@people.example' });
    expect(invited.status).toBe(404);
    expect((await createFormClient(server).get(PATH)).status).toBe(303);
  });

  it('does nothing through a form without its token', async () => {
    const user = await world.account({ organization });
    expect((await visitor.post(`${PATH}/${user.uid}/password-link`, {})).status).toBe(403);
    expect((await visitor.post(`${PATH}/${user.uid}/ban`, {})).status).toBe(403);
    expect((await stateOf(user.id))?.banned_at).toBeNull();
  });
});

describe('The console', () => {
  it('is for who signed in, who come back to where they were going', async () => {
    const stranger = createFormClient(server);
    expect((await stranger.get('/')).location).toBe(`${server.origin}/sign-in`);
    expect((await stranger.get('/vulnerabilities/7?open=8')).location).toBe(
      `${server.origin}/sign-in?to=%2Fvulnerabilities%2F7%3Fopen%3D8`,
    );
    for (const path of ['/', '/vulnerabilities', '/assets/5f0c1e2d', '/people']) {
      const page = await visitor.get(path);
      expect([path, page.status, page.text.includes('<div id="root">')]).toEqual([path, 200, true]);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(page.headers.get('content-security-policy')).toContain("style-src 'self';");
    }
  });

  it('loads files that may be kept for ever, packed for who reads that', async () => {
    const { text } = await visitor.get('/');
    const script = /src="([^"]+\.js)"/.exec(text)?.[1] ?? '';
    const file = await createFormClient(server).get(script, { 'accept-encoding': 'br' });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toBe('br');
    expect(
      (await createFormClient(server).get(script, { 'accept-encoding': 'identity' })).headers.get(
        'content-encoding',
      ),
    ).toBeNull();
    expect((await createFormClient(server).get('/console/files/none.js')).status).toBe(404);
  });
});
