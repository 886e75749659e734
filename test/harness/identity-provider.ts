import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';

export interface IdentityProviderUser {
  sub: string;
  email?: string;
  /** A conforming provider sends a boolean only. */
  email_verified?: boolean | string | number | null;
  name?: string;
  preferred_username?: string;
  upn?: string;
  groups?: string[];
}

/** A real OpenID Connect provider on a free port, with one confidential client. */
export interface TestIdentityProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The users by subject. Changes apply from the next sign-in. */
  people: Map<string, IdentityProviderUser>;
  /** Adds an account or changes its claims. */
  add(person: IdentityProviderUser): IdentityProviderUser;
  /**
   * Signs in at the provider as a browser does.
   * @param subject the account; `null` cancels
   * @returns the redirect URL with the response, not yet opened
   */
  visit(authorizationUrl: string, subject: string | null): Promise<string>;
  /** Changes the JSON of responses, by path, also of errors. The default changes nothing. */
  tamper: (path: string, body: Record<string, any>) => Record<string, any> | undefined;
  /**
   * Signs ID tokens with a new key from now on.
   * @param kid its id
   * @param publish whether it replaces the published keys. Default: true.
   */
  rotateKey(kid: string, publish?: boolean): Promise<void>;
  requests: string[];
  close(): Promise<void>;
}

interface ProviderOptions {
  /** The redirect URIs that an operator registered. */
  redirectUris: string[];
  /** Whether the ID token contains the claims too, not only the userinfo response. */
  claimsInIdToken?: boolean;
  /** Whether the client has a secret. Default: true. */
  secret?: boolean;
  /** `token_endpoint_auth_method`. Default: `client_secret_basic`. */
  authMethod?: 'client_secret_post';
}

/**
 * Shared by the providers of a worker: generating RSA keys is slow, and other issuers must be rejected by their claims.
 */
let signingKey: Promise<JWK> | undefined;

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return exportJWK(privateKey);
}

interface ProviderState {
  clientId: string;
  clientSecret: string;
  key: JWK;
  people: ReadonlyMap<string, IdentityProviderUser>;
}

function configuration(
  options: ProviderOptions,
  { clientId, clientSecret, key, people }: ProviderState,
): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        ...(options.secret === false
          ? { token_endpoint_auth_method: 'none' as const }
          : {
              client_secret: clientSecret,
              token_endpoint_auth_method: options.authMethod ?? 'client_secret_basic',
            }),
        redirect_uris: options.redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    ...(options.authMethod === undefined ? {} : { clientAuthMethods: [options.authMethod] }),
    jwks: { keys: [key] },
    cookies: { keys: ['cookies of a test'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'upn'],
      groups: ['groups'],
    },
    conformIdTokenClaims: options.claimsInIdToken !== true,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, subject) => ({
      accountId: subject,
      claims: () => ({ ...people.get(subject), sub: subject }),
    }),
    async loadExistingGrant(ctx) {
      // All users have consented.
      const grant = new ctx.oidc.provider.Grant({
        accountId: ctx.oidc.session?.accountId ?? '',
        clientId: ctx.oidc.client?.clientId ?? '',
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
  };
}

export async function startIdentityProvider(options: ProviderOptions): Promise<TestIdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = { ...(await (signingKey ??= newSigningKey())), kid: 'first', alg: 'RS256', use: 'sig' };

  const people = new Map<string, IdentityProviderUser>();
  const clientId = 'assay';
  const clientSecret = 'a secret with +&%= in it, long enough';
  const requests: string[] = [];

  const provider = new Provider(issuer, configuration(options, { clientId, clientSecret, key, people }));

  let rotated: { kid: string; privateKey: CryptoKey } | undefined;
  let published: JWK[] | undefined;
  /** Applies `rotateKey` to a response. */
  const withRotatedKey = async (path: string, body: Record<string, any>): Promise<Record<string, any>> => {
    if (path === '/jwks' && published !== undefined) return { keys: published };
    if (path !== '/token' || rotated === undefined || typeof body['id_token'] !== 'string') return body;
    const { kid, privateKey } = rotated;
    const token = new SignJWT(decodeJwt(body['id_token'])).setProtectedHeader({ alg: 'RS256', kid });
    return { ...body, id_token: await token.sign(privateKey) };
  };

  const state: TestIdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    people,
    requests,
    tamper: () => undefined,
    add(person) {
      people.set(person.sub, { ...people.get(person.sub), ...person });
      return person;
    },
    visit: (url, subject) => visit(issuer, url, subject),
    async rotateKey(kid, publish = true) {
      const { privateKey, publicKey } = await generateKeyPair('RS256');
      rotated = { kid, privateKey };
      if (publish) published = [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  provider.use(async (ctx, next) => {
    requests.push(ctx.path);
    // The sign-in page of the provider.
    if (ctx.path.startsWith('/interaction/')) {
      const subject = ctx.get('x-person');
      const result =
        subject === ''
          ? { error: 'access_denied', error_description: 'The person cancelled.' }
          : { login: { accountId: subject } };
      await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
      ctx.respond = false;
      return;
    }
    await next();
    if (typeof ctx.body === 'object' && ctx.body !== null) {
      ctx.body = await withRotatedKey(ctx.path, ctx.body as Record<string, any>);
      const tampered = state.tamper(ctx.path, ctx.body as Record<string, any>);
      if (tampered === undefined) return;
      ctx.body = tampered;
      if (tampered['error'] === undefined) ctx.status = 200;
    }
  });
  const callback = provider.callback();
  server.on('request', (request, response) => void callback(request, response));
  return state;
}

async function visit(issuer: string, authorizationUrl: string, subject: string | null): Promise<string> {
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
  for (let step = 0; step < 10; step += 1) {
    if (!url.startsWith(`${issuer}/`)) return url;
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(subject === null ? {} : { 'x-person': subject }),
      },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`The provider stopped with ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
  }
  throw new Error('The provider sends the browser around in circles.');
}
