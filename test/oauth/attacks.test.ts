import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { decryptSecret } from '../../src/auth/encrypt-secret.ts';
import { randomText } from '../../src/auth/secrets.ts';
import { signingKeyPurpose } from '../../src/domain/tokens/server-keys.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, REDIRECT } from './applications.ts';

let now = Date.UTC(2027, 0, 1);
const server = await useSharedServer(() => now);
const apps = applicationsOf(server);
const fixtures = createFixtures(server);
await fixtures.organization('acmeattacks');
const user = await fixtures.user({ organization: 'acmeattacks' });
const victim = await fixtures.user({ organization: 'acmeattacks', admin: true });
const client = await apps.client();
const staffs = await apps.client({ kind: 'confidential', userId: (await fixtures.user()).id });

/** The server's private key, as stolen with the database and the master key. */
async function ownKey(): Promise<{ key: Awaited<ReturnType<typeof importJWK>>; jwk: JWK & { kid: string } }> {
  const { db, masterKey } = server.context;
  const { kid, sealed_key } = await db.read.selectFrom('signing_keys').selectAll().executeTakeFirstOrThrow();
  const jwk = JSON.parse(decryptSecret(masterKey, signingKeyPurpose(kid), sealed_key) ?? '') as JWK & {
    kid: string;
  };
  return { key: await importJWK(jwk, 'ES256'), jwk };
}

async function expectUseless(token: string): Promise<void> {
  expect(await apps.isAccepted(token)).toBe(false);
  const { body } = await apps.postAs(staffs, '/oauth/introspect', { token });
  expect(body).toEqual({ active: false });
}

describe('Forged access token', () => {
  /** The claims of a valid token, so that only the forged part is wrong. */
  const claims = async (): Promise<JWTPayload> =>
    decodeJwt((await apps.tokens(client, victim.id)).access_token);
  const forge = async (
    changes: JWTPayload = {},
    header: { typ?: string; kid?: string } = {},
  ): Promise<string> => {
    const { key, jwk } = await ownKey();
    const typed = { alg: 'ES256', typ: 'at+jwt', kid: jwk.kid, ...header };
    return new SignJWT({ ...(await claims()), ...changes }).setProtectedHeader(typed).sign(key);
  };
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

  it('is valid without a forged part', async () => {
    expect(await apps.isAccepted(await forge())).toBe(true);
  });

  it.each(['JWT', 'id_token+jwt', undefined])('RFC 9068, 4: is rejected with the type %s', async (typ) =>
    expectUseless(await forge({}, { typ: typ as string })),
  );

  it('RFC 9068, 4: is rejected with the algorithm none', async () => {
    const { jwk } = await ownKey();
    const payload = encoded(await claims());
    for (const alg of ['none', 'None', 'NONE'])
      await expectUseless(`${encoded({ alg, typ: 'at+jwt', kid: jwk.kid })}.${payload}.`);
  });

  it('RFC 8725, 3.10: is rejected with a key embedded in its header or at a URL in it', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const { jwk: attackerJwk } = await ownKey();
    for (const header of [{ jwk }, { jku: 'http://127.0.0.1:9/keys' }, { x5u: 'http://127.0.0.1:9/cert' }]) {
      const token = new SignJWT(await claims()).setProtectedHeader({
        alg: 'ES256',
        typ: 'at+jwt',
        kid: attackerJwk.kid,
        ...header,
      });
      await expectUseless(await token.sign(privateKey));
    }
  });

  it('RFC 9068, 4: is rejected with HS256 and the public key as secret', async () => {
    const { keys } = await server.context.keys.jwks();
    const [jwk = {} as JWK] = keys;
    const pem = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    for (const secret of [pem.toString(), JSON.stringify(jwk)]) {
      const token = await new SignJWT(await claims())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid ?? '' })
        .sign(Buffer.from(secret));
      await expectUseless(token);
    }
  });

  it("RFC 9068, 4: is rejected with the attacker's own key, named, embedded or referenced", async () => {
    const { jwk } = await ownKey();
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const ownPublicKey = createPublicKey({
      key: Buffer.from(await crypto.subtle.exportKey('spki', publicKey)),
      format: 'der',
      type: 'spki',
    }).export({ format: 'jwk' }) as JWK;
    for (const header of [
      { kid: jwk.kid },
      { kid: 'mine' },
      { jwk: ownPublicKey },
      { jku: 'https://evil.example/jwks' },
    ]) {
      const token = await new SignJWT(await claims())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
        .sign(privateKey);
      await expectUseless(token);
    }
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'https://other.example' }],
    ['no audience', { aud: undefined as unknown as string }],
    ['an expiry in the past', { exp: Date.UTC(2027, 0, 1) / 1000 - 1 }],
    ['no expiry', { exp: undefined as unknown as number }],
    ['another subject', { sub: 'u000000000000000' }],
    ['an id that was never issued', { jti: '00000000-0000-4000-8000-000000000000' }],
  ])('RFC 9068, 4: is rejected with %s', async (_case, changes) => expectUseless(await forge(changes)));

  it('RFC 9068, 4: has the granted scopes, not those of its claims', async () => {
    const token = await forge({ scope: 'api tag_gw', staff: true, admin: true });
    const { body } = await apps.postAs(staffs, '/oauth/introspect', { token });
    expect(body.scope).toBe('api tag_lw tag_lr');
  });

  it('RFC 9068, 4: is rejected after its expiry', async () => {
    const { access_token: token } = await apps.tokens(client, user.id);
    now += 3_599_999;
    expect(await apps.isAccepted(token)).toBe(true);
    now += 1;
    await expectUseless(token);
  });
});

describe('Stolen authorization code', () => {
  it("RFC 9700, 4.5: is rejected in the attacker's session, which has another verifier", async () => {
    const stolen = await apps.code(client, victim.id);
    const code = await apps.code(client, user.id);
    const { status, body } = await apps.redeem(client, { code: stolen.code, verifier: code.verifier });
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 9700, 4.5: is rejected with its challenge as verifier', async () => {
    const stolen = await apps.code(client, victim.id);
    const challenge = createHash('sha256').update(stolen.verifier).digest('base64url');
    const { status, body } = await apps.redeem(client, { code: stolen.code, verifier: challenge });
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 9700, 4.8: is rejected without a verifier, as every code has a challenge', async () => {
    const stolen = await apps.code(client, victim.id);
    for (const fields of [{ code_verifier: '' }, { code_verifier: '', code_challenge_method: 'plain' }]) {
      const { status, body } = await apps.redeem(client, stolen, fields);
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
    }
  });

  it('RFC 9700, 4.4: is rejected from another client', async () => {
    const evil = await apps.client({ kind: 'confidential' });
    const stolen = await apps.code(client, victim.id);
    const { status, body } = await apps.redeem(evil, stolen);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    // The legitimate client can still redeem it.
    expect((await apps.redeem(client, stolen)).status).toBe(200);
  });

  it('RFC 6749, 10.6: is rejected with another redirect URI', async () => {
    const stolen = await apps.code(client, victim.id);
    const { status, body } = await apps.redeem(client, stolen, { redirect_uri: 'https://evil.example' });
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('RFC 9700, 2.1.1: revokes the tokens of its client when it is sent again without the verifier', async () => {
    const stolen = await apps.code(client, victim.id);
    const { body } = await apps.redeem(client, stolen);
    await apps.redeem(client, { code: stolen.code, verifier: randomText(64) });
    expect(await apps.isAccepted(body.access_token)).toBe(false);
  });

  it('RFC 6749, 10.5: does not revoke a grant when another client sends it again', async () => {
    const stolen = await apps.code(client, victim.id);
    const { body } = await apps.redeem(client, stolen);
    await apps.redeem(await apps.client(), stolen);
    expect(await apps.isAccepted(body.access_token)).toBe(true);
  });
});

describe('Stolen refresh token', () => {
  it('RFC 9700, 4.14.2: is detected when the attacker used it first', async () => {
    const { refresh_token: stolen } = await apps.tokens(client, victim.id);
    const { body: thiefs } = await apps.refresh(client, stolen);
    expect(await apps.isAccepted(thiefs.access_token)).toBe(true);
    const rightful = await apps.refresh(client, stolen);
    expect([rightful.status, rightful.body.error]).toEqual([400, 'invalid_grant']);
    await expectUseless(thiefs.access_token);
    await expectUseless(thiefs.refresh_token);
    expect((await apps.refresh(client, thiefs.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('RFC 9700, 4.14: is not accepted as an access token, nor an access token as a refresh token', async () => {
    const tokens = await apps.tokens(client, victim.id);
    expect(await apps.isAccepted(tokens.refresh_token)).toBe(false);
    for (const token of [tokens.access_token, victim.token])
      expect((await apps.refresh(client, token)).body.error).toBe('invalid_grant');
  });

  it('RFC 6749, 10.4: is rejected from another client', async () => {
    const { refresh_token: stolen } = await apps.tokens(client, victim.id);
    const { status, body } = await apps.refresh(await apps.client(), stolen);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });
});

describe('Secrets', () => {
  it('RFC 6749, 10.3: are stored only as hashes', async () => {
    const { db } = server.context;
    const confidential = await apps.client({ kind: 'confidential' });
    const code = await apps.code(confidential, user.id);
    const { body } = await apps.redeem(confidential, code);
    const rows = await Promise.all(
      (['oauth_clients', 'authorization_codes', 'refresh_tokens', 'tokens', 'audit_events'] as const).map(
        (table) => db.read.selectFrom(table).selectAll().execute(),
      ),
    );
    const text = JSON.stringify(rows);
    for (const secret of [code.code, body.access_token, body.refresh_token, confidential.secret])
      expect(text).not.toContain(secret);
  });

  it('RFC 6749, 10.10: are too long to guess, and guesses are rate-limited', async () => {
    const guessed = await startSecondServer(server, { rateLimit: 5 });
    try {
      const applications = applicationsOf(guessed);
      const { id } = await applications.client({ kind: 'confidential' });
      const statuses: number[] = [];
      for (let guess = 0; guess < 7; guess += 1) {
        const wrong = { id, secret: randomText(43) };
        statuses.push((await applications.clientCredentials(wrong)).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    } finally {
      await guessed.close();
    }
  });

  it('RFC 9700, 2.4: do not include user passwords: the password grant is rejected', async () => {
    const { status, body } = await apps.post('/oauth/token', {
      grant_type: 'password',
      username: user.email,
      password: 'a password',
      client_id: client.id,
    });
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
  });

  it('RFC 9700, 4.11: are not sent to open redirects: these endpoints never redirect', async () => {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
      const { status, headers } = await apps.post(`${path}?redirect_uri=https://evil.example`, {
        redirect_uri: REDIRECT,
      });
      expect([status, headers.get('location')]).toEqual([400, null]);
    }
  });
});
