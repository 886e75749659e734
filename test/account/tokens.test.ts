import { beforeEach, describe, expect, it } from 'vitest';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFormClient, type FormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const DAY = 86_400_000;
const PERSONAL = /assay_[0-9A-Za-z]{42}/;

let now = Date.UTC(2026, 5, 1);
let account: Awaited<ReturnType<ReturnType<typeof createFixtures>['account']>>;
let visitor: FormClient;
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
beforeEach(async () => {
  const organization = await fixtures.organization();
  account = await fixtures.account({ organization: organization.uid });
  visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
});

async function create(fields: Record<string, string> = {}) {
  const page = await visitor.open('/account/tokens');
  return visitor.submit(
    page,
    { name: 'nightly report', scopes: 'api', expires: '90', addresses: '', ...fields },
    '/account/tokens',
  );
}

const call = (token: string | undefined) =>
  server.request('GET', '/v1/assessments/nothing/testing_hours', { token });

const stored = () =>
  server.context.db.read.selectFrom('tokens').selectAll().where('user_id', '=', account.id).execute();

describe('Tokens page', () => {
  it('creates a personal access token, shows it once, and the token works', async () => {
    const response = await create();
    expect(response.status).toBe(200);
    const token = PERSONAL.exec(response.text)?.[0];
    expect((await call(token)).status).toBe(404);
    const page = await visitor.open('/account/tokens');
    expect(page.text).toContain('nightly report');
    expect(page.text).not.toMatch(PERSONAL);
    expect(await stored()).toMatchObject([
      { name: 'nightly report', scopes: 'api', expires_at: now + 90 * DAY, allowed_addresses: null },
    ]);
    const event = (await fixtures.auditEvents()).findLast(({ action }) => action === 'token.create');
    expect(event).toMatchObject({ user_id: account.id });
    expect(event?.after).toContain('"name":"nightly report"');
    expect(JSON.stringify(await fixtures.auditEvents()) + JSON.stringify(server.logs())).not.toContain(token);
  });

  it('offers the scopes of the account with their descriptions', async () => {
    const page = await visitor.open('/account/tokens');
    const offered = [...page.text.matchAll(/name="scopes" value="([^"]*)"/g)].map(([, scope]) => scope);
    expect(offered).toEqual(['api', 'api_read', 'tag_lw', 'tag_lr', 'asset_client_lw', 'asset_lr']);
    expect(page.text).toContain('Read everything');
    expect(page.text).toContain('Read tags of assets in your listings');
  });

  it('selects nothing by default', async () => {
    const { text } = await visitor.open('/account/tokens');
    expect(text).not.toMatch(/name="(scopes|preset)"[^>]* checked/);
  });

  it.each([
    ['read', 'api_read tag_lr asset_lr'],
    ['all', 'api tag_lw tag_lr asset_client_lw asset_lr'],
    ['chosen', 'api'],
  ])('applies the preset "%s" over selected scopes', async (preset, scopes) => {
    expect((await create({ preset })).status).toBe(200);
    expect(await stored()).toMatchObject([{ scopes }]);
  });

  it('warns that read scopes can tag assets unless scopes are strict', async () => {
    const words = 'can also tag assets';
    expect((await visitor.open('/account/tokens')).text).toContain(words);
    const strict = await startSecondServer(server, { strictScopes: true });
    const person = await createFixtures(strict).account();
    const browser = createFormClient(strict);
    await browser.signIn(person.email, person.password);
    expect((await browser.open('/account/tokens')).text).not.toContain(words);
    await strict.close();
  });

  it.each([
    ['30', 30 * DAY],
    ['365', 365 * DAY],
    ['never', null],
  ])('creates a token that expires after %s', async (expires, lifetime) => {
    await create({ expires });
    expect(await stored()).toMatchObject([{ expires_at: lifetime === null ? null : now + lifetime }]);
  });

  it('accepts several scopes and allowed addresses', async () => {
    const page = await visitor.open('/account/tokens');
    const csrf = /name="_csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const body = new URLSearchParams([
      ['_csrf', csrf],
      ['name', 'two'],
      ['scopes', 'api'],
      ['scopes', 'tag_lr'],
      ['expires', '30'],
      ['addresses', '10.0.0.0/8, 192.0.2.7'],
    ]);
    const response = await fetch(`${server.origin}/account/tokens`, {
      method: 'POST',
      body,
      headers: { cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    const token = PERSONAL.exec(await response.text())?.[0];
    expect(await stored()).toMatchObject([
      { scopes: 'api tag_lr', allowed_addresses: '["10.0.0.0/8","192.0.2.7"]' },
    ]);
    expect((await call(token)).status).toBe(403);
    expect((await visitor.open('/account/tokens')).text).toContain('10.0.0.0/8, 192.0.2.7');
  });

  it.each([
    [{ name: ' ' }, 422, 'The name must not be empty.'],
    [
      { name: 'a\u2028b' },
      422,
      'The name must not contain line breaks, other control characters or unpaired surrogates.',
    ],
    [{ addresses: 'somewhere' }, 422, '“somewhere” must be an IP address'],
    [{ scopes: 'tag_gw' }, 422, 'not allowed for this account'],
    [{ scopes: 'root' }, 422, 'is not a scope'],
    [{ expires: '10000' }, 422, 'expires'],
  ])('rejects %j', async (fields: Record<string, string>, status, words) => {
    const response = await create(fields);
    expect(response.status).toBe(status);
    expect(response.text).toContain(words);
    expect(await stored()).toEqual([]);
  });

  it('requires a scope and keeps the input', async () => {
    const page = await visitor.open('/account/tokens');
    const response = await visitor.submit(
      page,
      { name: 'none', expires: '365', addresses: '10.0.0.1' },
      '/account/tokens',
    );
    expect(response.status).toBe(422);
    expect(response.text).toContain('Choose what the token can do.');
    expect(response.text).toContain('value="none"');
    expect(response.text).toContain('value="10.0.0.1"');
    expect(response.text).toMatch(/<option value="365" selected/);
  });

  it('shows the last use, and tokens of the command line', async () => {
    await fixtures.token(account.id, { kind: 'jwt', expiresAt: now + DAY });
    await server.context.db.write((tx) =>
      tx
        .updateTable('tokens')
        .set({ last_used_at: now, last_used_from: '192.0.2.44' })
        .where('user_id', '=', account.id)
        .execute(),
    );
    const page = await visitor.open('/account/tokens');
    expect(page.text).toContain('Access token');
    expect(page.text).toMatch(
      /Last used <time datetime="2026-06-01T00:00:00.000Z" title="2026-06-01 00:00:00 UTC">just now<\/time> from 192\.0\.2\.44/,
    );
  });

  it('revokes a token immediately', async () => {
    const token = PERSONAL.exec((await create()).text)?.[0];
    expect((await call(token)).status).toBe(404);
    const response = await visitor.submit(
      await visitor.open('/account/tokens'),
      {},
      '/account/tokens/revoke',
    );
    const page = await visitor.open(response.location ?? '');
    expect(page.text).toContain('Token revoked');
    expect(page.text).not.toContain('nightly report');
    expect((await call(token)).status).toBe(401);
    const event = (await fixtures.auditEvents()).findLast(({ action }) => action === 'token.revoke');
    expect(event).toMatchObject({ user_id: account.id });
  });

  it('returns the same error for unknown tokens and those of others', async () => {
    const otherUser = await fixtures.user();
    const [otherToken] = await server.context.db.read
      .selectFrom('tokens')
      .selectAll()
      .where('user_id', '=', otherUser.id)
      .execute();
    await create();
    const page = await visitor.open('/account/tokens');
    const texts = [];
    for (const token of [otherToken?.id ?? '', 'no-such-token', otherUser.token]) {
      const response = await visitor.submit(page, { token }, '/account/tokens/revoke');
      expect(response.status).toBe(404);
      texts.push(response.text.replace(/<code>.*?<\/code>|value="[^"]*"/g, ''));
    }
    expect(new Set(texts).size).toBe(1);
    expect((await call(otherUser.token)).status).toBe(404);
  });

  it('omits tokens of applications', async () => {
    await server.context.db.write((tx) =>
      tx
        .insertInto('tokens')
        .values({
          id: `app-${account.id}`,
          kind: 'jwt',
          user_id: account.id,
          secret_hash: null,
          scopes: 'api',
          allowed_addresses: null,
          created_at: now,
          expires_at: now + DAY,
          revoked_at: null,
          last_used_at: null,
          last_used_from: null,
          client_id: 'assay-docs',
          grant_id: 'g',
          name: null,
        })
        .execute(),
    );
    await create();
    const page = await visitor.open('/account/tokens');
    expect(page.text.match(/name="token"/g)).toHaveLength(1);
    const response = await visitor.submit(page, { token: `app-${account.id}` }, '/account/tokens/revoke');
    expect(response.status).toBe(404);
  });

  it('rejects a form without its CSRF token', async () => {
    const response = await visitor.post('/account/tokens', { name: 'x', scopes: 'api', expires: 'never' });
    expect(response.status).toBe(403);
    expect(await stored()).toEqual([]);
  });
});
