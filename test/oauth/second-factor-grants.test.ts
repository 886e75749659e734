import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { signAccessToken, storeAccessToken } from '../../src/domain/tokens/access-tokens.ts';
import { consumeCode, findAuthorizationCode } from '../../src/domain/tokens/authorization-codes.ts';
import { issueRefreshToken } from '../../src/domain/tokens/refresh-tokens.ts';
import { endSessions } from '../../src/domain/sign-in/end-sessions.ts';
import {
  endAccessWithoutFactor,
  setSecondFactorRequirement,
} from '../../src/domain/sign-in/second-factor-requirement.ts';
import { addTotp, generateTotpSecret } from '../../src/domain/sign-in/totp.ts';
import { authorizePath, CALLBACK, PKCE } from '../harness/authorization.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';
import { interleave } from '../harness/interleave.ts';
import { useSharedServer } from '../harness/server.ts';
import { applicationsOf } from './applications.ts';

const now = Date.UTC(2027, 0, 1);
const by = cliChangeContext(now);
const server = await useSharedServer(() => now);
const apps = applicationsOf(server);
const fixtures = createFixtures(server);
const client = await apps.client();

const addFactor = (userId: number, organizationId: number) =>
  server.context.db.write((tx) =>
    addTotp(tx, by, { userId, organizationId }, server.context.keys.secret, {
      secret: generateTotpSecret(),
      step: 1,
    }),
  );

const require = (uid: string) =>
  server.context.db.write((tx) => setSecondFactorRequirement(tx, by, uid, true));

async function expectEnded({ access_token, refresh_token }: { access_token: string; refresh_token: string }) {
  expect(await apps.isAccepted(access_token)).toBe(false);
  expect((await apps.refresh(client, refresh_token)).body.error).toBe('invalid_grant');
}

async function expectValid({ access_token, refresh_token }: { access_token: string; refresh_token: string }) {
  expect(await apps.isAccepted(access_token)).toBe(true);
  expect((await apps.refresh(client, refresh_token)).status).toBe(200);
}

describe('Access of applications to accounts without a second factor', () => {
  it('ends when the organization requires one', async () => {
    const { id, uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    const tokens = await apps.tokens(client, user.id);
    const code = await apps.code(client, user.id);
    const careful = await fixtures.user({ organization: uid });
    await addFactor(careful.id, id);
    const outsider = await fixtures.user({ organization: (await fixtures.organization()).uid });
    const others = [await apps.tokens(client, careful.id), await apps.tokens(client, outsider.id)];
    await require(uid);
    await expectEnded(tokens);
    expect((await apps.redeem(client, code)).body.error).toBe('invalid_grant');
    for (const one of others) await expectValid(one);

    const events = (await fixtures.auditEvents()).filter(
      ({ action, before }) => action === 'grant.revoke' && before?.includes(`"user":${user.id},`),
    );
    expect(events.map(({ organization_id, after }) => [organization_id, JSON.parse(after ?? '')])).toEqual(
      expect.arrayContaining([
        [id, { reason: 'second-factor-required', codes: 0, refresh_tokens: 1, access_tokens: 1 }],
        [id, { reason: 'second-factor-required', codes: 1, refresh_tokens: 0, access_tokens: 0 }],
      ]),
    );
    expect(events).toHaveLength(2);
  });

  it('stays if the organization signs in only through its provider', async () => {
    const { uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    const tokens = await apps.tokens(client, user.id);
    await fixtures.ssoOnly(uid);
    await require(uid);
    await expectValid(tokens);
  });

  it('ends for staff when a server that requires one starts', async () => {
    const staff = await fixtures.user();
    const tokens = await apps.tokens(client, staff.id);
    await server.context.db.write((tx) => endAccessWithoutFactor(tx, by, null));
    await expectEnded(tokens);
    expect(await apps.isAccepted(staff.token)).toBe(true);
  });

  it('does not include personal access tokens and clients with an account of their own', async () => {
    const { uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    const own = await apps.client({ kind: 'confidential', userId: user.id });
    const { body } = await apps.clientCredentials(own);
    await require(uid);
    expect(await apps.isAccepted(user.token)).toBe(true);
    expect(await apps.isAccepted(body.access_token)).toBe(true);
  });

  it('ends with the tokens for which a code is exchanged at the same time', async () => {
    const { db, keys } = server.context;
    const { id, uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    const { code } = await apps.code(client, user.id);
    const storedCode = await findAuthorizationCode(db.read, code);
    if (storedCode === undefined) throw new Error('The code is not stored.');
    const signed = await signAccessToken(db.read, keys, storedCode, 3_600_000, now);
    let refreshToken = '';
    await interleave(
      server,
      async (tx) => {
        await consumeCode(tx, code, now);
        await storeAccessToken(tx, by, signed);
        const next = { ...storedCode, organizationId: id, grantExpiresAt: now + 3_600_000 };
        refreshToken = await issueRefreshToken(tx, by, next, 3_600_000, null);
      },
      (tx) => setSecondFactorRequirement(tx, by, uid, true),
    );
    await expectEnded({ access_token: signed.token, refresh_token: refreshToken });
  });
});

describe('An approval', () => {
  it('is not stored when its session ends in the meantime', async () => {
    const account = await fixtures.account();
    const visitor = createFormClient(server);
    await visitor.signIn(account.email, account.password);
    const { id } = await fixtures.client({ kind: 'public', redirectUris: [CALLBACK] });
    const path = authorizePath({ client_id: id, redirect_uri: CALLBACK, response_type: 'code', ...PKCE });
    const { db } = server.context;
    const { write } = db;
    const form = await visitor.open(path);
    expect(form.text).toContain('Allow access?');
    db.write = async (transaction) => {
      db.write = write;
      await write((tx) => endSessions(tx, by, { userId: account.id, organizationId: null }, null));
      return write(transaction);
    };
    const { location } = await visitor.submit(form, { decision: 'allow' }, path).finally(() => {
      db.write = write;
    });
    expect(location).toContain('/sign-in?to=%2Foauth%2Fauthorize');
    const codes = db.read
      .selectFrom('authorization_codes')
      .select('grant_id')
      .where('user_id', '=', account.id);
    expect(await codes.execute()).toEqual([]);
  });
});
