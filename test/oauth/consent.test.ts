import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { SCOPES } from '../../src/auth/scopes.ts';
import { signAccessToken, storeAccessToken } from '../../src/domain/tokens/access-tokens.ts';
import { lockConsent, revokeConsent } from '../../src/domain/tokens/consents.ts';
import { issueRefreshToken } from '../../src/domain/tokens/refresh-tokens.ts';
import { authorizePath, CALLBACK, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { engine, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let now = Date.UTC(2026, 10, 1, 9, 30);
const server = await useSharedServer(() => now);
await createFixtures(server).organization('acmeconsent');

const signedIn = async () => {
  const account = await createFixtures(server).account({ organization: 'acmeconsent', admin: true });
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  return { account, visitor };
};
const newClient = async (name = 'Triage board') =>
  (await createFixtures(server).client({ implicit: true, name })).id;
const codePath = (client: string, scope: string) =>
  authorizePath({ response_type: 'code', client_id: client, redirect_uri: CALLBACK, scope, ...PKCE });
const tokenPath = (client: string, scope: string) =>
  authorizePath({ response_type: 'token', client_id: client, redirect_uri: CALLBACK, scope });
const requiresConsent = async (visitor: FormClient, path: string) => (await visitor.get(path)).status === 200;
const eventsOf = async (client: string) =>
  (await createFixtures(server).auditEvents()).filter(({ object_id }) => object_id === client);
const createTag = (token: string | undefined, name: string) =>
  server.request('POST', '/api/tagging/v1.0/organizations/acmeconsent/tags', {
    token,
    body: { tags: [{ name }] },
  });

describe('Consent page', () => {
  it('RFC 6749, 10.2 and 10.3: shows the application, the scopes, the account and the redirect target', async () => {
    const { account, visitor } = await signedIn();
    const { text } = await visitor.get(codePath(await newClient('<b>Board</b>'), 'tag_ow asset_or tag_gw'));
    expect(text).toContain('<strong>&lt;b>Board&lt;/b></strong> wants to access your Assay account');
    expect(text).toContain(account.email);
    expect(text).toContain('<dd>app.example</dd>');
    for (const scope of ['tag_ow', 'asset_or'] as const) expect(text).toContain(SCOPES[scope]);
    expect(text).not.toContain(SCOPES.tag_gw);
    expect(text).toMatch(/It also requests <code>tag_gw<\/code>, which your account cannot grant to it/);
    expect(text).toMatch(/<button[^>]*name="decision" value="allow"/);
    expect(text).toMatch(/<button[^>]*name="decision" value="deny"/);
  });

  it("shows how long access lasts: an access token's lifetime without refresh tokens, else the grant's", async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    expect((await visitor.get(tokenPath(client, 'tag_ow'))).text).toContain('<dd>1 hour at most</dd>');
    expect((await visitor.get(codePath(client, 'tag_ow'))).text).toContain('<dd>365 days at most</dd>');
  });

  it('RFC 8252, 8.6: shows whether the application is on the same device', async () => {
    const { visitor } = await signedIn();
    for (const [redirect, words] of [
      ['http://127.0.0.1:9000/cb', '127.0.0.1:9000, which is this device'],
      ['com.example.app:/cb', 'an application on this device (com.example.app)'],
    ] as const) {
      const { id } = await createFixtures(server).client({ redirectUris: [redirect] });
      const path = authorizePath({ response_type: 'code', client_id: id, redirect_uri: redirect, ...PKCE });
      expect((await visitor.get(path)).text).toContain(words);
    }
  });

  it('offers to sign in as another user and returns', async () => {
    const { visitor } = await signedIn();
    const otherBrowser = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await visitor.open(path);
    const left = await visitor.submit(page, { account: 'other' }, path);
    expect(left.status).toBe(303);
    expect(left.location?.startsWith(`${server.origin}/sign-in?to=`)).toBe(true);
    expect((await visitor.get('/account')).status).toBe(303);
    const back = await visitor.signIn(otherBrowser.account.email, otherBrowser.account.password, path);
    expect(back.location).toBe(server.origin + path);
    expect((await visitor.get(path)).text).toContain(otherBrowser.account.email);
  });

  it('is shown again without a decision, and rejects an unknown one', async () => {
    const { visitor } = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await visitor.open(path);
    expect((await visitor.submit(page, {}, path)).status).toBe(200);
    expect((await visitor.submit(page, { decision: 'perhaps' }, path)).status).toBe(422);
  });

  it('accepts only the form of the same session', async () => {
    const visitor = await signedIn();
    const otherBrowser = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await visitor.visitor.open(path);
    await otherBrowser.visitor.open(path);
    expect((await otherBrowser.visitor.submit(page, { decision: 'allow' }, path)).status).toBe(403);
  });

  it('grants only the scopes that it showed, even if the account gains others meanwhile', async () => {
    const account = await createFixtures(server).account({ organization: 'acmeconsent' });
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const path = tokenPath(await newClient(), 'tag_ow tag_lw');
    const page = await visitor.open(path);
    await server.context.db.write((tx) =>
      tx.updateTable('users').set({ admin: 1 }).where('id', '=', account.id).execute(),
    );
    const { fragment } = responseOf(await visitor.submit(page, { decision: 'allow' }, path));
    expect(fragment['scope']).toBe('tag_lw');
    expect(await requiresConsent(visitor, path)).toBe(true);
  });

  it('validates the request again when the user allows it', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    const path = tokenPath(client, 'tag_ow');
    const page = await visitor.open(path);
    await server.context.db.write((tx) =>
      tx.updateTable('oauth_clients').set({ implicit: 0 }).where('id', '=', client).execute(),
    );
    const { fragment } = responseOf(await visitor.submit(page, { decision: 'allow' }, path));
    expect(fragment).toMatchObject({ error: 'unauthorized_client' });
    expect(fragment).not.toHaveProperty('access_token');
  });
});

describe('Consent', () => {
  it('is remembered for the user, the client and the scopes, and for subsets of them', async () => {
    const { account, visitor } = await signedIn();
    const client = await newClient();
    await decide(visitor, codePath(client, 'tag_ow tag_or'), 'allow');
    for (const scope of ['tag_or tag_ow', 'tag_ow', 'tag_or'])
      expect(responseOf(await visitor.get(codePath(client, scope))).query).toHaveProperty('code');
    expect(responseOf(await visitor.get(tokenPath(client, 'tag_ow'))).fragment).toHaveProperty(
      'access_token',
    );
    expect(await eventsOf(client)).toMatchObject([
      { action: 'client.create' },
      {
        action: 'consent.give',
        user_id: account.id,
        at: now,
        before: null,
        after: JSON.stringify({ user: account.id, scopes: 'tag_ow tag_or' }),
      },
    ]);
  });

  it.each([
    ['a loopback port', 'http://127.0.0.1/callback', 'http://127.0.0.1:51004/callback', true],
    ['a private scheme', 'com.example.app:/callback', 'com.example.app:/callback', true],
    ['https', CALLBACK, CALLBACK, false],
  ])(
    'RFC 8252, 8.6: to a public client that redirects to %s, is required each time: %#',
    async (_what, registered, redirect_uri, isRequired) => {
      const { visitor } = await signedIn();
      const { id } = await createFixtures(server).client({ redirectUris: [registered] });
      const path = authorizePath({
        response_type: 'code',
        client_id: id,
        redirect_uri,
        scope: 'tag_ow',
        ...PKCE,
      });
      const page = await visitor.open(path);
      expect(page.text.includes('you are asked each time')).toBe(isRequired);
      await decide(visitor, path, 'allow');
      expect(await requiresConsent(visitor, path)).toBe(isRequired);
    },
  );

  it('to a confidential client is remembered on loopback too, as only its secret redeems a code', async () => {
    const { visitor } = await signedIn();
    const redirectUris = ['http://127.0.0.1/callback'];
    const client = { kind: 'confidential', redirectUris, implicit: true } as const;
    const { id } = await createFixtures(server).client(client);
    const pathOf = (response_type: 'code' | 'token') =>
      authorizePath({
        response_type,
        client_id: id,
        redirect_uri: 'http://127.0.0.1:51004/callback',
        scope: 'tag_ow',
        ...PKCE,
      });
    await decide(visitor, pathOf('code'), 'allow');
    expect(await requiresConsent(visitor, pathOf('code'))).toBe(false);
    // The implicit flow takes no secret.
    expect(await requiresConsent(visitor, pathOf('token'))).toBe(true);
  });

  it('is required again for a new scope, another client and another user', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    await decide(visitor, codePath(client, 'tag_ow'), 'allow');
    await decide(visitor, codePath(client, 'tag_or'), 'allow');
    // Scopes that were allowed separately are not allowed together.
    expect(await requiresConsent(visitor, codePath(client, 'tag_ow tag_or'))).toBe(true);
    expect(await requiresConsent(visitor, codePath(await newClient(), 'tag_ow'))).toBe(true);
    expect(await requiresConsent((await signedIn()).visitor, codePath(client, 'tag_ow'))).toBe(true);
  });

  it('for api covers api_read, and not the reverse', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    const page = await visitor.get(codePath(client, 'api_read'));
    expect(page.text).toContain(SCOPES.api_read);
    await decide(visitor, codePath(client, 'api_read'), 'allow');
    expect(await requiresConsent(visitor, codePath(client, 'api'))).toBe(true);
    const otherClient = await newClient();
    await decide(visitor, codePath(otherClient, 'api tag_or'), 'allow');
    expect(await requiresConsent(visitor, codePath(otherClient, 'api_read tag_or'))).toBe(false);
    const { fragment } = responseOf(await visitor.get(tokenPath(otherClient, 'api_read')));
    expect(fragment).toMatchObject({ scope: 'api_read' });
  });

  it('is not remembered if the user denies', async () => {
    const { visitor } = await signedIn();
    const path = codePath(await newClient(), 'tag_ow');
    await decide(visitor, path, 'deny');
    expect(await requiresConsent(visitor, path)).toBe(true);
  });

  it('is listed under applications with its scopes, start and last use', async () => {
    const { visitor } = await signedIn();
    expect((await visitor.get('/account/applications')).text).toContain('No application has access');
    const client = await newClient('Night watch');
    const { fragment } = responseOf(await decide(visitor, tokenPath(client, 'tag_ow tag_or'), 'allow'));
    await decide(visitor, codePath(client, 'asset_or'), 'allow');
    const page = await visitor.get('/account/applications');
    expect(page.text).toContain('Night watch');
    for (const scope of ['tag_ow', 'tag_or', 'asset_or'] as const) expect(page.text).toContain(SCOPES[scope]);
    expect(page.text).toMatch(/Allowed <time[^>]*title="2026-11-01 09:30:00 UTC">/);
    expect(page.text).toContain('No recent use');
    await server.context.db.write((tx) =>
      tx
        .updateTable('tokens')
        .set({ last_used_at: now + 60_000, last_used_from: '192.0.2.7' })
        .where('client_id', '=', client)
        .execute(),
    );
    expect(fragment).toHaveProperty('access_token');
    expect((await visitor.get('/account/applications')).text).toMatch(
      /Last used <time[^>]*title="2026-11-01 09:31:00 UTC">[^<]*<\/time> from 192\.0\.2\.7/,
    );
  });

  it('is revoked with its tokens and codes, and required again', async () => {
    const { account, visitor } = await signedIn();
    const bystander = await signedIn();
    const client = await newClient();
    const token = async (browser: FormClient, path: string) =>
      responseOf(await decide(browser, path, 'allow')).fragment['access_token'];
    const ended = await token(visitor, tokenPath(client, 'tag_ow'));
    const bystanderToken = await token(bystander.visitor, tokenPath(client, 'tag_ow'));
    const otherToken = await token(visitor, tokenPath(await newClient(), 'tag_ow'));
    await visitor.get(codePath(client, 'tag_ow'));
    const grant = { clientId: client, userId: account.id, organizationId: null, grantId: 'grant' };
    await server.context.db.write((tx) =>
      issueRefreshToken(
        tx,
        cliChangeContext(now),
        { ...grant, scopes: ['tag_ow'], grantExpiresAt: now + 1_000 },
        1_000,
        null,
      ),
    );
    expect((await createTag(ended, `before ${client}`)).status).toBe(201);

    const page = await visitor.open('/account/applications');
    const response = await visitor.post('/account/applications', {
      client,
      _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    });
    expect(response.location).toBe(`${server.origin}/account/applications?done=withdrawn`);
    expect((await visitor.get(response.location ?? '')).text).toContain('Access removed');

    expect((await createTag(ended, `after ${client}`)).status).toBe(401);
    expect((await createTag(bystanderToken, `bystander ${client}`)).status).toBe(201);
    expect((await createTag(otherToken, `other ${client}`)).status).toBe(201);
    const { db } = server.context;
    const codes = await db.read
      .selectFrom('authorization_codes')
      .select('user_id')
      .where('client_id', '=', client)
      .execute();
    expect(codes).toEqual([]);
    const refresh = await db.read
      .selectFrom('refresh_tokens')
      .select('revoked_at')
      .where('client_id', '=', client)
      .execute();
    expect(refresh).toEqual([{ revoked_at: now }]);
    expect(await requiresConsent(visitor, tokenPath(client, 'tag_ow'))).toBe(true);
    expect((await eventsOf(client)).at(-1)).toMatchObject({
      action: 'consent.withdraw',
      user_id: account.id,
      before: JSON.stringify({ user: account.id, scopes: ['tag_ow'] }),
      after: JSON.stringify({ codes: 1, refresh_tokens: 1, access_tokens: 1 }),
    });
    const repeated = await visitor.post('/account/applications', {
      client,
      _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    });
    expect(repeated.status).toBe(404);
  });

  it('that is revoked during a request leaves no token', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    const path = tokenPath(client, 'tag_ow');
    await decide(visitor, path, 'allow');
    const page = await visitor.open('/account/applications');
    const withdrawal = visitor.post('/account/applications', {
      client,
      _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    });
    await Promise.all([withdrawal, ...Array.from({ length: 12 }, () => visitor.get(path))]);
    expect((await withdrawal).status).toBe(303);
    const consent = await server.context.db.read
      .selectFrom('tokens')
      .select('id')
      .where('client_id', '=', client)
      .where('revoked_at', 'is', null)
      .execute();
    expect(consent).toEqual([]);
    expect(await requiresConsent(visitor, path)).toBe(true);
  });

  it.runIf(engine() === 'postgres')(
    'is revoked after a concurrent grant, together with its token',
    async () => {
      const { account, visitor } = await signedIn();
      const client = await newClient();
      await decide(visitor, tokenPath(client, 'tag_ow'), 'allow');
      const { db, keys } = server.context;
      const consenter = { userId: account.id, organizationId: null, clientId: client };
      const scopes = ['tag_ow'] as const;
      const grant = { userId: account.id, clientId: client, grantId: 'late', scopes };
      const signed = await signAccessToken(db.read, keys, grant, 60_000, now);
      const waitsForLock = () =>
        db.read
          .executeQuery<{ n: number }>(
            CompiledQuery.raw(
              "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            ) as CompiledQuery<{ n: number }>,
          )
          .then(({ rows }) => rows[0]?.n ?? 0);

      let withdrawal: Promise<void> | undefined;
      await db.write(async (tx) => {
        expect(await lockConsent(tx, consenter, scopes)).toBe(true);
        let done = false;
        withdrawal = db.write((other) => revokeConsent(other, cliChangeContext(now), consenter));
        void withdrawal.then(() => (done = true));
        // The revocation either waits for this transaction or ends before the token exists.
        await expect.poll(async () => done || (await waitsForLock()) > 0).toBe(true);
        await storeAccessToken(tx, cliChangeContext(now), signed);
      });
      await withdrawal;
      const consent = await db.read
        .selectFrom('tokens')
        .select('id')
        .where('client_id', '=', client)
        .where('revoked_at', 'is', null)
        .execute();
      expect(consent).toEqual([]);
    },
  );
});
