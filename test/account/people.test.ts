import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/people/bans.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newVisitor, type Visitor } from '../harness/visitor.ts';
import { worldOf } from '../harness/world.ts';

const PATH = '/account/people';
const NEXT = 'a wholly different pass phrase';
const UNKNOWN = 'There is no such user among those you look after. Check the address.';

let server: TestServer;
let world: ReturnType<typeof worldOf>;
let organization: string;
let admin: Awaited<ReturnType<ReturnType<typeof worldOf>['account']>>;
let visitor: Visitor;
const now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await startTestServer({}, () => now);
  world = worldOf(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  organization = (await world.organization()).uid;
  admin = await world.account({ organization, admin: true });
  visitor = await signedIn(admin);
});

async function signedIn(account: { email: string; password: string }): Promise<Visitor> {
  const browser = newVisitor(server);
  await browser.signIn(account.email, account.password);
  return browser;
}

const make = async (email: string, link: 'password' | 'invitation', by = visitor) =>
  by.submit(await by.open(PATH), { email, link }, PATH);

/** The path of the link that a page shows. */
function linkIn(text: string): string {
  const url = /<code class="secret">([^<]*)<\/code>/.exec(text)?.[1] ?? '';
  expect(url.startsWith(server.origin)).toBe(true);
  return url.slice(server.origin.length);
}

/** A page without what differs from one to the next. */
const plain = (text: string) => text.replace(/value="[^"]*"/g, '');

describe('An admin', () => {
  it('makes a link for a new password, which is shown once', async () => {
    const user = await world.account({ organization });
    const answer = await make(` ${user.email.toUpperCase()} `, 'password');
    expect(answer.status).toBe(200);
    const path = linkIn(answer.text);
    expect((await visitor.open(PATH)).text).not.toContain('reset-password?token');
    const browser = newVisitor(server);
    await browser.submit(await browser.open(path), { password: NEXT }, '/reset-password');
    expect((await newVisitor(server).signIn(user.email, NEXT)).status).toBe(303);
    const event = (await world.auditEvents()).find(({ action }) => action === 'password-reset.create');
    expect(event).toMatchObject({ user_id: admin.id, object_id: String(user.id) });
  });

  it('renews an invitation, and is told to where somebody has not accepted', async () => {
    const invited = await world.invited({ organization });
    const refused = await make(invited.email, 'password');
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Renew the invitation instead.');
    expect(refused.text).toContain(`value="${invited.email}"`);
    const path = linkIn((await make(invited.email, 'invitation')).text);
    const browser = newVisitor(server);
    const answer = await browser.submit(
      await browser.open(path),
      { name: 'Ada', password: NEXT },
      '/invitation',
    );
    expect(answer.status).toBe(303);
    expect((await make(invited.email, 'invitation')).text).toContain('has accepted the invitation already');
  });

  it('sees nobody of another organization: they look like nobody at all', async () => {
    const elsewhere = (await world.organization()).uid;
    const answers = [];
    for (const email of [
      'nobody@example.com',
      (await world.account({ organization: elsewhere })).email,
      (await world.invited({ organization: elsewhere })).email,
      (await world.account()).email,
    ]) {
      for (const link of ['password', 'invitation'] as const) {
        const answer = await make(email, link);
        answers.push({ status: answer.status, text: plain(answer.text) });
      }
    }
    for (const answer of answers) {
      expect(answer).toEqual(answers[0]);
      expect(answer).toMatchObject({ status: 422, text: expect.stringContaining(UNKNOWN) });
    }
  });

  it('cannot get around their own password', async () => {
    const answer = await make(admin.email, 'password');
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('That is you.');
  });

  it('is told of a banned user of theirs', async () => {
    const user = await world.account({ organization });
    await server.context.db.write((tx) => banUser(tx, commandLine(now), user.id));
    expect((await make(user.email, 'password')).text).toContain('This user is banned');
  });

  it('is told that a provider signs them in', async () => {
    const user = await world.account({ organization });
    await world.ssoOnly(organization);
    expect((await make(user.email, 'password')).text).toContain('has no password here');
  });
});

describe('Platform staff', () => {
  it('make links for client users of every organization, and for no other staff', async () => {
    const staff = await signedIn(await world.account());
    const user = await world.account({ organization });
    linkIn((await make(user.email, 'password', staff)).text);
    const colleague = await world.account();
    expect((await make(colleague.email, 'password', staff)).text).toContain(UNKNOWN);
  });
});

describe('Everybody else', () => {
  it('has no such page, nor a link to it', async () => {
    const user = await world.account({ organization });
    const browser = await signedIn(user);
    expect((await browser.get(PATH)).status).toBe(404);
    expect((await browser.get('/account')).text).not.toContain(PATH);
    const page = await browser.open('/account');
    const csrf = /name="_csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const answer = await browser.post(PATH, { _csrf: csrf, email: admin.email, link: 'password' });
    expect(answer.status).toBe(404);
    expect((await newVisitor(server).get(PATH)).status).toBe(303);
    expect((await visitor.get('/account')).text).toContain(`href="${PATH}"`);
  });

  it('does not get a link through a form without its token', async () => {
    const user = await world.account({ organization });
    expect((await visitor.post(PATH, { email: user.email, link: 'password' })).status).toBe(403);
  });
});
