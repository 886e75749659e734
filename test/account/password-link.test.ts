import { beforeEach, describe, expect, it } from 'vitest';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { useSharedServer } from '../harness/server.ts';

const PEOPLE = '/account/people';
const NEXT = 'a wholly different pass phrase';

let organization: string;
let admin: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let visitor: FormClient;
const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.account({ organization, admin: true });
  visitor = await signedIn(admin);
});

async function signedIn(account: { email: string; password: string }): Promise<FormClient> {
  const browser = createFormClient(server);
  await browser.signIn(account.email, account.password);
  return browser;
}

const pathOf = ({ uid }: { uid: string }) => `${PEOPLE}/${uid}/password-link`;

async function createLink(user: { uid: string }, by = visitor) {
  return by.submit(await by.open(pathOf(user)), {}, pathOf(user));
}

/** Submits the form even if the page is not shown. */
async function forceLink(user: { uid: string }, by = visitor) {
  const csrf = /name="_csrf" value="([^"]*)"/.exec((await by.open('/account')).text)?.[1] ?? '';
  return by.post(pathOf(user), { _csrf: csrf });
}

function linkIn(text: string): string {
  const url = /<code class="secret">([^<]*)<\/code>/.exec(text)?.[1] ?? '';
  expect(url.startsWith(server.origin)).toBe(true);
  return url.slice(server.origin.length);
}

describe('Password reset link', () => {
  it('is created by an admin, shown once, and recorded', async () => {
    const user = await fixtures.account({ organization });
    const response = await createLink(user);
    expect(response.status).toBe(200);
    const path = linkIn(response.text);
    expect((await visitor.open(pathOf(user))).text).not.toContain('reset-password?token');
    const browser = createFormClient(server);
    await browser.submit(await browser.open(path), { password: NEXT }, '/reset-password');
    expect((await createFormClient(server).signIn(user.email, NEXT)).status).toBe(303);
    const event = (await fixtures.auditEvents()).findLast(({ action }) => action === 'password-reset.create');
    expect(event).toMatchObject({ user_id: admin.id, object_id: String(user.id) });
  });

  it('is the page that a sign-in leads to', async () => {
    const user = await fixtures.account({ organization });
    const { headers } = await createFormClient(server).get(pathOf(user));
    expect(headers.get('location')).toBe(`/sign-in?${new URLSearchParams({ to: pathOf(user) })}`);
  });

  it('rejects invited users, single sign-on, and the admin’s own account', async () => {
    const invited = await fixtures.invited({ organization });
    const rejected = await createLink(invited);
    expect(rejected.status).toBe(422);
    expect(rejected.text).toContain('Renew the invitation instead.');
    const ownLink = await forceLink(admin);
    expect(ownLink.status).toBe(422);
    expect(ownLink.text).toContain('This is your own account.');
    const user = await fixtures.account({ organization });
    await fixtures.ssoOnly(organization);
    expect((await createLink(user)).text).toContain('has no password here');
  });

  it('returns the same 404 for users of other organizations, staff and unknown users', async () => {
    const otherOrganization = (await fixtures.organization()).uid;
    const plain = (text: string) =>
      text.replace(/value="[^"]*"|<code>[^<]*<\/code>/g, '').replaceAll(/u\w{15}/g, '');
    const responses = [];
    for (const user of [
      { uid: 'unobodyunobodyu1' },
      await fixtures.account({ organization: otherOrganization }),
      await fixtures.invited({ organization: otherOrganization }),
      await fixtures.account(),
    ]) {
      for (const { status, text } of [await visitor.get(pathOf(user)), await forceLink(user)])
        responses.push({ status, text: plain(text) });
    }
    for (const response of responses) {
      expect(response).toEqual(responses[0]);
      expect(response.status).toBe(404);
    }
  });

  it('is created by staff for client users of the organizations that they can access', async () => {
    const user = await fixtures.account({ organization });
    const staff = await signedIn(await fixtures.account());
    linkIn((await createLink(user, staff)).text);
    expect((await forceLink(await fixtures.account(), staff)).status).toBe(404);
  });

  it('requires an admin, a session and a CSRF token', async () => {
    const user = await fixtures.account({ organization });
    const browser = await signedIn(user);
    expect((await browser.get(pathOf(admin))).status).toBe(404);
    expect((await forceLink(admin, browser)).status).toBe(404);
    expect((await createFormClient(server).get(pathOf(user))).status).toBe(303);
    expect((await visitor.post(pathOf(user), {})).status).toBe(403);
  });
});

it('/account/people redirects to the console', async () => {
  const response = await visitor.get(PEOPLE);
  expect([response.status, response.location]).toEqual([303, `${server.origin}/people`]);
});
