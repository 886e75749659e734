import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { revokeConsent, saveConsent } from '../../src/domain/tokens/consents.ts';
import { deleteOAuthClient } from '../../src/domain/tokens/oauth-clients.ts';
import { revokeToken } from '../../src/domain/tokens/tokens.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { applicationsOf } from '../oauth/applications.ts';

const NOW = Date.UTC(2027, 4, 1, 8);
let organization: string;
let user: { id: number; email: string; password: string };
const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
const apps = applicationsOf(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  user = await fixtures.account({ organization });
});

interface Made {
  id: string;
  token: string;
}
const change = (unit: Parameters<TestServer['context']['db']['write']>[0]) => server.context.db.write(unit);
const by = () => cliChangeContext(NOW);

/** Creates a token with another one (operation 58). */
async function make(token: string, name = 'made'): Promise<Made> {
  const { status, body } = await server.request('POST', '/v1/tokens', { token, body: { name } });
  expect(status).toBe(201);
  return body as Made;
}
const isValid = async ({ token }: Made) =>
  (await server.request('GET', '/v1/users/whoami', { token })).status === 200;

/** An access token of an application that the user has consented to. */
async function ofApplication() {
  const client = await apps.client();
  const consent = { userId: user.id, organizationId: null, clientId: client.id };
  await change((tx) => saveConsent(tx, by(), consent, ['api', 'tag_lw', 'tag_lr']));
  const code = await apps.code(client, user.id);
  const redeem = () => apps.redeem(client, code);
  const { body } = await redeem();
  return {
    client,
    consent,
    redeem,
    access: body.access_token as string,
    refresh: body.refresh_token as string,
  };
}

describe('A token that was made with another one', () => {
  it('ends when that one is revoked, with those that were made with it, and no others', async () => {
    const creator = await fixtures.token(user.id);
    const child = await make(creator.token);
    const grandchild = await make(child.token);
    const otherToken = await fixtures.token(user.id);
    expect(await Promise.all([child, grandchild].map(isValid))).toEqual([true, true]);
    await change((tx) => revokeToken(tx, by(), creator.id));
    expect(await Promise.all([creator, child, grandchild, otherToken].map(isValid))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    const events = (await fixtures.auditEvents()).filter(({ action }) => action === 'token.revoke');
    expect(
      events.filter(({ object_id }) => [child.id, grandchild.id].includes(String(object_id))),
    ).toHaveLength(2);
    const { body } = await server.request('GET', '/v1/tokens', { token: otherToken.token });
    expect(body.map((token: Made & { revoked_at: string }) => [token.id, token.revoked_at !== null])).toEqual(
      expect.arrayContaining([
        [child.id, true],
        [otherToken.id, false],
      ]),
    );
  });

  it('does not end with one that was made with it', async () => {
    const creator = await fixtures.token(user.id);
    const child = await make(creator.token);
    await change((tx) => revokeToken(tx, by(), child.id));
    expect([await isValid(creator), await isValid(child)]).toEqual([true, false]);
  });

  it.each<[string, (app: Awaited<ReturnType<typeof ofApplication>>) => Promise<unknown>]>([
    ['the consent is withdrawn', ({ consent }) => change((tx) => revokeConsent(tx, by(), consent))],
    ['the application is deleted', ({ client }) => change((tx) => deleteOAuthClient(tx, by(), client.id))],
    ['the code is used twice', ({ redeem }) => redeem()],
    [
      'the application revokes its refresh token',
      ({ client, refresh }) => apps.postAs(client, '/oauth/revoke', { token: refresh }),
    ],
    [
      'the application revokes its access token',
      ({ client, access }) => apps.postAs(client, '/oauth/revoke', { token: access }),
    ],
    ['the user is banned', () => change((tx) => banUser(tx, by(), user.id))],
  ])('of an application ends when %s', async (_event, end) => {
    const app = await ofApplication();
    const child = await make(app.access);
    expect(await isValid(child)).toBe(true);
    await end(app);
    expect(await isValid(child)).toBe(false);
  });

  it('is never left valid by a revocation at the same time', async () => {
    for (let round = 0; round < 8; round += 1) {
      const creator = await fixtures.token(user.id);
      const [created] = await Promise.all([
        server.request('POST', '/v1/tokens', { token: creator.token, body: { name: 'late' } }),
        change((tx) => revokeToken(tx, by(), creator.id)),
      ]);
      expect([201, 401, 404]).toContain(created.status);
      if (created.status === 201) expect(await isValid(created.body)).toBe(false);
    }
  });

  it('names its creator in operation 57 and on the page of tokens', async () => {
    const creator = await fixtures.token(user.id, { name: 'deployment' });
    const child = await make(creator.token, 'job');
    const app = await ofApplication();
    const boardToken = await make(app.access, 'board job');
    const { body } = await server.request('GET', '/v1/tokens', { token: creator.token });
    const creators = new Map(
      body.map((token: { id: string; made_by: unknown }) => [token.id, token.made_by]),
    );
    expect([child.id, boardToken.id, creator.id].map((id) => creators.get(id))).toEqual([
      { kind: 'token', id: creator.id, name: 'deployment' },
      { kind: 'application', id: app.client.id, name: 'Board' },
      null,
    ]);
    // A job deletes access tokens that have expired.
    await change((tx) => tx.deleteFrom('tokens').where('client_id', '=', app.client.id).execute());
    const later = await server.request('GET', '/v1/tokens', { token: creator.token });
    expect(later.body.find((token: { id: string }) => token.id === boardToken.id).made_by).toEqual(
      creators.get(boardToken.id),
    );
    const visitor = createFormClient(server);
    await visitor.signIn(user.email, user.password);
    const { text } = await visitor.get('/account/tokens');
    expect(text).toContain('Created with the token deployment.');
    expect(text).toContain('Created by the application Board.');
  });
});
