import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';

/** Someone who has an account at the provider. */
export interface IdentityProviderUser {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
  name?: string;
  groups?: string[];
}

/** A real OpenID Connect provider on a free port of this machine, with one confidential client. */
export interface TestIdentityProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** By subject. Changes count from the next sign-in on. */
  people: Map<string, IdentityProviderUser>;
  /** Adds a person, or changes what the provider tells of one. */
  add(person: IdentityProviderUser): IdentityProviderUser;
  /**
   * Goes to the provider with a browser, signs in there on its page, and follows it back.
   * @param subject who signs in; `null` cancels
   * @returns the redirect address with the answer, not yet opened
   */
  visit(authorizationUrl: string, subject: string | null): Promise<string>;
  /** Changes the JSON that the provider answers with, by path, and with it an error to none; nothing unless told. */
  tamper: (path: string, body: Record<string, any>) => Record<string, any> | undefined;
  /** The path of every request so far. */
  requests: string[];
  close(): Promise<void>;
}

interface ProviderOptions {
  /** As an operator registers them. */
  redirectUris: string[];
  /** Whether the claims of a person are in the ID token too, rather than in userinfo alone. */
  claimsInIdToken?: boolean;
  /** Whether the client has a secret; it has unless told. */
  secret?: boolean;
  /** How the client proves itself, when not by `client_secret_basic`. */
  authMethod?: 'client_secret_post';
}

/** What every provider of a worker signs with, so that a token of another one is refused for what it says: RSA is slow. */
let signingKey: Promise<JWK> | undefined;

async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return exportJWK(privateKey);
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

  const provider = new Provider(issuer, {
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
      profile: ['name'],
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
      // Everyone has consented to everything.
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
  });

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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  provider.use(async (ctx, next) => {
    requests.push(ctx.path);
    // The provider's sign-in page, which a person fills in.
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
      const tampered = state.tamper(ctx.path, ctx.body as Record<string, any>);
      if (tampered === undefined) return;
      ctx.body = tampered;
      if (tampered['error'] === undefined) ctx.status = 200;
    }
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
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
