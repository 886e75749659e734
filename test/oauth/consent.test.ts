import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliAttribution } from '../../src/auth/callers.ts';
import { SCOPES } from '../../src/auth/scopes.ts';
import { signAccessToken, storeAccessToken } from '../../src/domain/tokens/access-tokens.ts';
import { lockConsent, revokeConsent } from '../../src/domain/tokens/consents.ts';
import { issueRefreshToken } from '../../src/domain/tokens/refresh-tokens.ts';
import { authorizePath, CALLBACK, decide, PKCE, responseOf } from '../harness/authorization.ts';
import { engine, type TestServer, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let now = Date.UTC(2026, 10, 1, 9, 30);
beforeAll(async () => {
  server = await useSharedServer(() => now);
  await createFixtures(server).organization('acmeconsent');
});
afterAll(() => server.close());

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
const isAsked = async (visitor: FormClient, path: string) => (await visitor.get(path)).status === 200;
const eventsOf = async (client: string) =>
  (await createFixtures(server).auditEvents()).filter(({ object_id }) => object_id === client);
const createTag = (token: string | undefined, name: string) =>
  server.request('POST', '/api/tagging/v1.0/organizations/acmeconsent/tags', {
    token,
    body: { tags: [{ name }] },
  });

describe('The consent page', () => {
  it('RFC 6749, 10.2 and 10.3: says which application asks, for what, as whom, and where it leads', async () => {
    const { account, visitor } = await signedIn();
    const { text } = await visitor.get(codePath(await newClient('<b>Board</b>'), 'tag_ow asset_or tag_gw'));
    expect(text).toContain('<strong>&lt;b>Board&lt;/b></strong> wants to access your Assay account');
    expect(text).toContain(account.email);
    expect(text).toContain('<dd>app.example</dd>');
    for (const scope of ['tag_ow', 'asset_or'] as const) expect(text).toContain(SCOPES[scope]);
    expect(text).not.toContain(SCOPES.tag_gw);
    expect(text).toMatch(/It also requests <code>tag_gw<\/code>, which your account cannot grant/);
    expect(text).toMatch(/<button[^>]*name="decision" value="allow"/);
    expect(text).toMatch(/<button[^>]*name="decision" value="deny"/);
  });

  it('says how long access lasts: as long as a token without a refresh token, else as long as the grant', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    expect((await visitor.get(tokenPath(client, 'tag_ow'))).text).toContain('<dd>1 hour at most</dd>');
    expect((await visitor.get(codePath(client, 'tag_ow'))).text).toContain('<dd>365 days at most</dd>');
  });

  it('RFC 8252, 8.6: says when the application is on the same device', async () => {
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

  it('leads to the sign-in as someone else, and from there back', async () => {
    const { visitor } = await signedIn();
    const other = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await visitor.open(path);
    const left = await visitor.submit(page, { account: 'other' }, path);
    expect(left.status).toBe(303);
    expect(left.location?.startsWith(`${server.origin}/sign-in?to=`)).toBe(true);
    expect((await visitor.get('/account')).status).toBe(303);
    const back = await visitor.signIn(other.account.email, other.account.password, path);
    expect(back.location).toBe(server.origin + path);
    expect((await visitor.get(path)).text).toContain(other.account.email);
  });

  it('asks again where neither button was pressed, and refuses what is no decision', async () => {
    const { visitor } = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await visitor.open(path);
    expect((await visitor.submit(page, {}, path)).status).toBe(200);
    expect((await visitor.submit(page, { decision: 'perhaps' }, path)).status).toBe(422);
  });

  it('takes only what it was shown for: another session’s form is worth nothing', async () => {
    const one = await signedIn();
    const other = await signedIn();
    const path = codePath(await newClient(), 'tag_lw');
    const page = await one.visitor.open(path);
    await other.visitor.open(path);
    expect((await other.visitor.submit(page, { decision: 'allow' }, path)).status).toBe(403);
  });

  it('grants no more than it showed, when the account may hold more by then', async () => {
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
    expect(await isAsked(visitor, path)).toBe(true);
  });

  it('checks the request once more when it is allowed', async () => {
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

describe('A consent', () => {
  it('is remembered for the user, the client and the scopes, and for fewer of them', async () => {
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

  it('is asked for again where a scope is new, for another client, and for another user', async () => {
    const { visitor } = await signedIn();
    const client = await newClient();
    await decide(visitor, codePath(client, 'tag_ow'), 'allow');
    await decide(visitor, codePath(client, 'tag_or'), 'allow');
    // Two sets that were allowed apart are not allowed together.
    expect(await isAsked(visitor, codePath(client, 'tag_ow tag_or'))).toBe(true);
    expect(await isAsked(visitor, codePath(await newClient(), 'tag_ow'))).toBe(true);
    expect(await isAsked((await signedIn()).visitor, codePath(client, 'tag_ow'))).toBe(true);
  });

  it('is not remembered when it is denied', async () => {
    const { visitor } = await signedIn();
    const path = codePath(await newClient(), 'tag_ow');
    await decide(visitor, path, 'deny');
    expect(await isAsked(visitor, path)).toBe(true);
  });

  it('is listed under applications, with what it allows, since when, and its last use', async () => {
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

  it('is withdrawn with every token and code that came of it, and asked for again', async () => {
    const { account, visitor } = await signedIn();
    const bystander = await signedIn();
    const client = await newClient();
    const token = async (browser: FormClient, path: string) =>
      responseOf(await decide(browser, path, 'allow')).fragment['access_token'];
    const ended = await token(visitor, tokenPath(client, 'tag_ow'));
    const stays = await token(bystander.visitor, tokenPath(client, 'tag_ow'));
    const others = await token(visitor, tokenPath(await newClient(), 'tag_ow'));
    await visitor.get(codePath(client, 'tag_ow'));
    const grant = { clientId: client, userId: account.id, organizationId: null, grantId: 'grant' };
    await server.context.db.write((tx) =>
      issueRefreshToken(
        tx,
        cliAttribution(now),
        { ...grant, scopes: ['tag_ow'], grantExpiresAt: now + 1_000 },
        1_000,
        null,
      ),
    );
    expect((await createTag(ended, `before ${client}`)).status).toBe(201);

    const page = await visitor.open('/account/applications');
    const answer = await visitor.post('/account/applications', {
      client,
      _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    });
    expect(answer.location).toBe(`${server.origin}/account/applications?done=withdrawn`);
    expect((await visitor.get(answer.location ?? '')).text).toContain('Access removed');

    expect((await createTag(ended, `after ${client}`)).status).toBe(401);
    expect((await createTag(stays, `bystander ${client}`)).status).toBe(201);
    expect((await createTag(others, `other ${client}`)).status).toBe(201);
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
    expect(await isAsked(visitor, tokenPath(client, 'tag_ow'))).toBe(true);
    expect((await eventsOf(client)).at(-1)).toMatchObject({
      action: 'consent.withdraw',
      user_id: account.id,
      before: JSON.stringify({ user: account.id, scopes: ['tag_ow'] }),
      after: JSON.stringify({ codes: 1, refresh_tokens: 1, access_tokens: 1 }),
    });
    const again = await visitor.post('/account/applications', {
      client,
      _csrf: /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    });
    expect(again.status).toBe(404);
  });

  it('that is withdrawn while it is used grants nothing that outlives it', async () => {
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
    const good = await server.context.db.read
      .selectFrom('tokens')
      .select('id')
      .where('client_id', '=', client)
      .where('revoked_at', 'is', null)
      .execute();
    expect(good).toEqual([]);
    expect(await isAsked(visitor, path)).toBe(true);
  });

  it.runIf(engine() === 'postgres')(
    'that a grant counts on is withdrawn after it, and with its token',
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
        withdrawal = db.write((other) => revokeConsent(other, cliAttribution(now), consenter));
        void withdrawal.then(() => (done = true));
        // Either it waits for this unit of work, or it is done before the token is there.
        await expect.poll(async () => done || (await waitsForLock()) > 0).toBe(true);
        await storeAccessToken(tx, cliAttribution(now), signed);
      });
      await withdrawal;
      const good = await db.read
        .selectFrom('tokens')
        .select('id')
        .where('client_id', '=', client)
        .where('revoked_at', 'is', null)
        .execute();
      expect(good).toEqual([]);
    },
  );
});
