import { describe, expect, it } from 'vitest';
import { type InvalidAssertion, passkeyOptions, SoftwareAuthenticator } from '../harness/authenticator.ts';
import { alertOn, recoveryCodesOn, SECOND_FACTOR, SECURITY, sendCode } from '../harness/second-factors.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const ADD = `${SECURITY}/passkeys`;

let now = Date.UTC(2026, 5, 1);
const server = await useSharedServer(() => now);

async function signedIn(organization?: string) {
  const account = await createFixtures(server).account({ organization });
  const owner = createFormClient(server);
  await owner.signIn(account.email, account.password);
  return { ...account, owner };
}

/** Adds a passkey in the session of a user who has just signed in. */
async function add(owner: FormClient, device: SoftwareAuthenticator, deviation?: InvalidAssertion) {
  const page = await owner.open(SECURITY);
  const credential = device.make(await passkeyOptions(owner, 'add'), deviation);
  return owner.submit(page, { credential, name: 'Key on my desk' }, ADD);
}

async function accountWithPasskey(organization?: string) {
  const account = await signedIn(organization);
  const device = new SoftwareAuthenticator(server);
  const page = await add(account.owner, device);
  return { ...account, device, page };
}

/** Signs in with a passkey only. */
async function use(
  device: SoftwareAuthenticator,
  deviation?: InvalidAssertion,
  visitor = createFormClient(server),
) {
  const page = await visitor.open('/sign-in?to=/account/sessions');
  const credential = device.use(await passkeyOptions(visitor, 'sign-in'), deviation);
  return visitor.submit(page, { credential }, '/sign-in/passkey');
}

/** Verifies a passkey after the password. */
async function prove(
  account: { email: string; password: string },
  device: SoftwareAuthenticator,
  deviation?: InvalidAssertion,
) {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  const page = await visitor.open(SECOND_FACTOR);
  const credential = device.use(await passkeyOptions(visitor, 'second-factor'), deviation);
  return visitor.submit(page, { credential }, `${SECOND_FACTOR}/passkey`);
}

const actionsOf = async (userId: number) =>
  (await createFixtures(server).auditEvents())
    .filter((event) => event.user_id === userId || event.object_id === String(userId))
    .map(({ action }) => action);

const DEVIATIONS: [string, InvalidAssertion][] = [
  ['another origin', { origin: 'https://evil.example' }],
  ['the origin with an IP address', { origin: 'http://127.0.0.1' }],
  ['a frame of another origin', { crossOrigin: true }],
  ['the origin of an embedding page', { topOrigin: 'https://evil.example' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['another challenge', { challenge: Buffer.from('another challenge').toString('base64url') }],
  ['no user verification', { userVerified: false }],
  ['the other ceremony', { type: 'webauthn.other' }],
];

describe('A passkey that is removed during a sign-in with it', () => {
  it('starts no session', async () => {
    const { id, device } = await accountWithPasskey();
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const credential = device.use(await passkeyOptions(visitor, 'sign-in'));
    const { db } = server.context;
    const { write } = db;
    let writes = 0;
    db.write = async (transaction) => {
      writes += 1;
      // Between the transaction that verifies the passkey and the one that starts the session.
      if (writes === 2) await write((tx) => tx.deleteFrom('passkeys').where('user_id', '=', id).execute());
      return write(transaction);
    };
    const lateResponse = await visitor.submit(page, { credential }, '/sign-in/passkey').finally(() => {
      db.write = write;
    });
    expect(lateResponse.location).toBe(`${server.origin}/sign-in`);
    expect((await visitor.get('/account')).status).toBe(303);
  });
});

describe('Adding a passkey', () => {
  it('requests a discoverable credential without attestation', async () => {
    const { owner, uid } = await signedIn();
    expect(await passkeyOptions(owner, 'add')).toMatchObject({
      rp: { id: 'localhost', name: 'Assay' },
      user: { id: Buffer.from(uid).toString('base64url') },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    });
  });

  it('shows recovery codes with the first passkey, and lists it', async () => {
    const account = await signedIn();
    const otherBrowser = createFormClient(server);
    await otherBrowser.signIn(account.email, account.password);
    const cookie = account.owner.cookies.get('assay-session');
    const device = new SoftwareAuthenticator(server);
    expect(recoveryCodesOn(await add(account.owner, device))).toHaveLength(10);
    expect(account.owner.cookies.get('assay-session')).not.toBe(cookie);
    expect((await otherBrowser.get('/account')).status).toBe(303);
    expect((await account.owner.get(SECURITY)).text).toContain('Key on my desk');
    expect(await actionsOf(account.id)).toEqual(
      expect.arrayContaining(['passkey.create', 'recovery-codes.create']),
    );

    const second = await add(account.owner, new SoftwareAuthenticator(server));
    expect(second.location).toBe(`${server.origin}${SECURITY}?done=passkey-added`);
    const options = await passkeyOptions(account.owner, 'add');
    expect(options['excludeCredentials']).toHaveLength(2);
  });

  it.each(DEVIATIONS)('WebAuthn, 7.1: rejects %s', async (_what, deviation) => {
    const { owner, id } = await signedIn();
    expect((await add(owner, new SoftwareAuthenticator(server), deviation)).status).toBe(409);
    expect(await actionsOf(id)).not.toContain('passkey.create');
  });

  it('accepts a response once', async () => {
    const { owner, id } = await signedIn();
    const device = new SoftwareAuthenticator(server);
    const page = await owner.open(SECURITY);
    const credential = device.make(await passkeyOptions(owner, 'add'));
    const cookie = owner.cookies.get('assay-passkey') ?? '';
    const response = { credential, name: 'First' };
    expect((await owner.submit(page, response, ADD)).status).toBe(200);
    owner.cookies.set('assay-passkey', cookie);
    const repeated = await owner.submit(await owner.open(SECURITY), { ...response, name: 'Again' }, ADD);
    expect(repeated.status).toBe(409);
    expect((await actionsOf(id)).filter((action) => action === 'passkey.create')).toHaveLength(1);
  });

  it('rejects the passkey of another account', async () => {
    const { device } = await accountWithPasskey();
    const otherBrowser = await signedIn();
    expect((await add(otherBrowser.owner, device)).status).toBe(409);
  });

  it("rejects the response to another session's challenge", async () => {
    const [firstBrowser, secondBrowser] = [await signedIn(), await signedIn()];
    const page = await firstBrowser.owner.open(SECURITY);
    const credential = new SoftwareAuthenticator(server).make(
      await passkeyOptions(secondBrowser.owner, 'add'),
    );
    firstBrowser.owner.cookies.set('assay-passkey', secondBrowser.owner.cookies.get('assay-passkey') ?? '');
    expect((await firstBrowser.owner.submit(page, { credential, name: 'x' }, ADD)).status).toBe(409);
  });

  it.each(['', '{}', 'null', '{"id":1}', '[]'])('rejects %j', async (credential) => {
    const { owner } = await signedIn();
    const page = await owner.open(SECURITY);
    await passkeyOptions(owner, 'add');
    expect((await owner.submit(page, { credential, name: 'x' }, ADD)).status).toBe(409);
  });

  it('requires a recent sign-in', async () => {
    const { owner } = await signedIn();
    now += 600_000;
    expect((await owner.get(SECURITY)).text).not.toContain('Add passkey');
    const csrf = /name="_csrf" value="([^"]+)"/.exec((await owner.get(SECURITY)).text)?.[1] ?? '';
    const credential = new SoftwareAuthenticator(server).make(await passkeyOptions(owner, 'add'));
    expect((await owner.post(ADD, { _csrf: csrf, credential, name: 'x' })).status).toBe(403);
  });

  it('requires a sign-in', async () => {
    const visitor = createFormClient(server);
    for (const purpose of ['add', 'confirm', 'second-factor'])
      expect((await visitor.get(`/passkeys/options?for=${purpose}`)).status).toBe(303);
  });
});

describe('Sign-in with a passkey', () => {
  it('signs in, redirects to the requested page, and is recorded', async () => {
    const { device, owner, id } = await accountWithPasskey();
    const visitor = createFormClient(server);
    const response = await use(device, {}, visitor);
    expect(response.location).toBe(`${server.origin}/account/sessions`);
    expect((await visitor.get('/account')).status).toBe(200);
    expect(await actionsOf(id)).toContain('session.start');
    expect((await owner.get(SECURITY)).text).toContain('from 127.0.0.1');
    const sessions = await server.context.db.read
      .selectFrom('sessions')
      .select(['method', 'state'])
      .where('user_id', '=', id)
      .execute();
    expect(sessions).toContainEqual({ method: 'passkey', state: 'complete' });
  });

  it('accepts any passkey of this server with user verification', async () => {
    const options = await passkeyOptions(createFormClient(server), 'sign-in');
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] });
  });

  it.each([
    ...DEVIATIONS,
    ['the user handle of another user', { userHandle: Buffer.from('somebody').toString('base64url') }],
  ] as [string, InvalidAssertion][])('WebAuthn, 7.2: rejects %s', async (_what, deviation) => {
    now += 60_000;
    const { device, id } = await accountWithPasskey();
    const response = await use(device, deviation);
    expect(response.status).toBe(401);
    expect(await actionsOf(id)).toContain('sign-in.refuse');
    expect((await use(device)).status).toBe(303);
  });

  it('rejects unknown passkeys and those of banned and single sign-on users with the same message', async () => {
    const fixtures = createFixtures(server);
    const { uid, id: organizationId } = await fixtures.organization();
    const banned = await accountWithPasskey();
    await server.context.db.write((tx) =>
      tx.updateTable('users').set({ banned_at: now }).where('id', '=', banned.id).execute(),
    );
    const provided = await accountWithPasskey(uid);
    await fixtures.ssoOnly(uid);
    const unknownDevice = new SoftwareAuthenticator(server);
    unknownDevice.make(await passkeyOptions((await signedIn()).owner, 'add'));
    const words = new Set<string>();
    for (const device of [banned.device, provided.device, unknownDevice]) {
      const response = await use(device);
      expect(response.status).toBe(401);
      words.add(alertOn(response));
    }
    expect(words.size).toBe(1);
    await server.context.db.write((tx) =>
      tx.deleteFrom('identity_providers').where('organization_id', '=', organizationId).execute(),
    );
  });

  it('rejects a repeated response, whether or not the authenticator has a counter', async () => {
    for (const counter of [undefined, 0]) {
      const { device } = await accountWithPasskey();
      const visitor = createFormClient(server);
      const page = await visitor.open('/sign-in');
      const options = await passkeyOptions(visitor, 'sign-in');
      const cookie = visitor.cookies.get('assay-passkey') ?? '';
      const credential = device.use(options, counter === undefined ? {} : { counter });
      expect((await visitor.submit(page, { credential }, '/sign-in/passkey')).status).toBe(303);
      // An eavesdropper has the cookie too.
      const thief = createFormClient(server);
      const form = await thief.open('/sign-in');
      thief.cookies.set('assay-passkey', cookie);
      expect((await thief.submit(form, { credential }, '/sign-in/passkey')).status).toBe(401);
    }
  });

  it('accepts one of concurrent requests with the same response', async () => {
    const { device } = await accountWithPasskey();
    const visitors = [createFormClient(server), createFormClient(server), createFormClient(server)];
    const pages = await Promise.all(visitors.map((visitor) => visitor.open('/sign-in')));
    const [first] = visitors;
    const credential = device.use(await passkeyOptions(first ?? createFormClient(server), 'sign-in'), {
      counter: 0,
    });
    const cookie = first?.cookies.get('assay-passkey') ?? '';
    const responses = await Promise.all(
      visitors.map((visitor, index) => {
        visitor.cookies.set('assay-passkey', cookie);
        return visitor.submit(pages[index] ?? (pages[0] as never), { credential }, '/sign-in/passkey');
      }),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  it("rejects the response to another browser's challenge, and one after five minutes", async () => {
    const { device } = await accountWithPasskey();
    const [challenged, otherBrowser] = [createFormClient(server), createFormClient(server)];
    const credential = device.use(await passkeyOptions(challenged, 'sign-in'));
    const form = await otherBrowser.open('/sign-in');
    expect((await otherBrowser.submit(form, { credential }, '/sign-in/passkey')).status).toBe(401);
    const page = await challenged.open('/sign-in');
    now += 300_000;
    expect((await challenged.submit(page, { credential }, '/sign-in/passkey')).status).toBe(401);
  });

  it('WebAuthn, 6.1.1: rejects and records a signature counter that does not increase', async () => {
    const { device } = await accountWithPasskey();
    expect((await use(device, { counter: 7 })).status).toBe(303);
    for (const counter of [7, 6, 0]) {
      now += 60_000;
      expect((await use(device, { counter })).status).toBe(401);
    }
    const events = (await createFixtures(server).auditEvents()).filter(
      (event) => event.action === 'passkey.refuse' && event.object_id === device.id,
    );
    expect(events.map(({ after }) => JSON.parse(after ?? ''))).toEqual(
      [7, 6, 0].map((counter) => ({ user: expect.any(Number), counter_before: 7, counter })),
    );
    expect((await use(device, { counter: 8 })).status).toBe(303);
  });

  it('accepts an authenticator without a counter', async () => {
    const { device } = await accountWithPasskey();
    expect((await use(device, { counter: 0 })).status).toBe(303);
    expect((await use(device, { counter: 0 })).status).toBe(303);
  });
});

describe('Passkey as second factor', () => {
  it('completes a sign-in with the password', async () => {
    const account = await accountWithPasskey();
    const halfSignedIn = await createFormClient(server).signIn(account.email, account.password);
    expect(halfSignedIn.location).toContain(SECOND_FACTOR);
    expect((await prove(account, account.device)).location).toBe(`${server.origin}/`);
    const sessions = await server.context.db.read
      .selectFrom('sessions')
      .select('method')
      .where('user_id', '=', account.id)
      .execute();
    expect(sessions).toContainEqual({ method: 'password+passkey' });
  });

  it.each(DEVIATIONS)('WebAuthn, 7.2: rejects %s', async (_what, deviation) => {
    const account = await accountWithPasskey();
    expect((await prove(account, account.device, deviation)).status).toBe(401);
  });

  it("rejects another user's passkey and the response to a sign-in challenge", async () => {
    const [first, second] = [await accountWithPasskey(), await accountWithPasskey()];
    expect((await prove(first, second.device)).status).toBe(401);
    const visitor = createFormClient(server);
    await visitor.signIn(first.email, first.password);
    const page = await visitor.open(SECOND_FACTOR);
    const credential = first.device.use(await passkeyOptions(visitor, 'sign-in'));
    expect((await visitor.submit(page, { credential }, `${SECOND_FACTOR}/passkey`)).status).toBe(401);
  });

  it('accepts a recovery code instead', async () => {
    const account = await accountWithPasskey();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const [code = ''] = recoveryCodesOn(account.page);
    expect((await sendCode(visitor, 'recovery_code', code)).status).toBe(303);
  });
});

describe('Passkeys of an account', () => {
  it("confirm the user's identity, and can be removed", async () => {
    const account = await accountWithPasskey();
    const { owner, device } = account;
    now += 600_000;
    const page = await owner.open(SECURITY);
    expect(page.text).toContain('A recovery code');
    const withPassword = await owner.submit(page, { proof: account.password }, `${SECURITY}/confirm`);
    expect(withPassword.status).toBe(401);
    const credential = device.use(await passkeyOptions(owner, 'confirm'));
    expect((await owner.submit(page, { credential }, `${SECURITY}/confirm/passkey`)).status).toBe(303);
    const recent = await owner.open(SECURITY);
    const removed = await owner.submit(recent, {}, `${ADD}/remove`);
    expect(removed.location).toBe(`${server.origin}${SECURITY}?done=passkey-removed`);
    expect(await actionsOf(account.id)).toContain('passkey.delete');
    expect((await use(device)).status).toBe(401);
    expect((await createFormClient(server).signIn(account.email, account.password)).location).toBe(
      `${server.origin}/`,
    );
  });

  it('cannot be removed by others', async () => {
    const [first, second] = [await accountWithPasskey(), await accountWithPasskey()];
    const page = await first.owner.open(SECURITY);
    const response = await first.owner.submit(page, { passkey: second.device.id }, `${ADD}/remove`);
    expect(response.status).toBe(404);
    expect((await use(second.device)).status).toBe(303);
  });
});
