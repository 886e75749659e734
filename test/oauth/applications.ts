import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { cliAttribution } from '../../src/auth/callers.ts';
import type { Scope } from '../../src/auth/scopes.ts';
import { randomText } from '../../src/auth/secrets.ts';
import { issueAuthorizationCode } from '../../src/domain/tokens/authorization-codes.ts';
import { createClient } from '../../src/domain/tokens/oauth-clients.ts';
import type { TestResponse, TestServer } from '../harness/server.ts';

export interface TestClient {
  id: string;
  /** `null` for a public one. */
  secret: string | null;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

export const REDIRECT = 'https://app.example/callback';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Applications, and what they do at the endpoints that are called without a browser. */
export function applicationsOf(server: TestServer) {
  const { db, clock, keys } = server.context;
  const act = () => cliAttribution(clock());

  /** Sends a form; several values of one name are sent as they are in a list of pairs. */
  const post = (
    path: string,
    fields: Record<string, string> | [string, string][],
    headers: Record<string, string> = {},
  ): Promise<TestResponse> =>
    server.request('POST', path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { ...FORM, ...headers },
    });

  /** The same, authenticated: with Basic, or for a public client by its id. */
  const postAs = (client: TestClient, path: string, fields: Record<string, string>) =>
    client.secret === null
      ? post(path, { ...fields, client_id: client.id })
      : post(path, fields, { authorization: basic(client.id, client.secret) });

  const client = (
    input: { kind?: 'public' | 'confidential'; userId?: number | null; redirectUris?: string[] } = {},
  ): Promise<TestClient> =>
    db.write((tx) =>
      createClient(tx, act(), {
        name: 'Board',
        kind: 'public',
        redirectUris: [REDIRECT],
        implicit: false,
        userId: null,
        ...input,
      }),
    );

  /** What the authorization endpoint makes once a user has allowed it. */
  const code = async (
    { id }: TestClient,
    userId: number,
    options: { scopes?: Scope[]; redirectUri?: string | null; organizationId?: number | null } = {},
  ): Promise<{ code: string; verifier: string }> => {
    const verifier = randomText(64);
    const input = {
      clientId: id,
      userId,
      organizationId: null,
      redirectUri: REDIRECT,
      scopes: ['api', 'tag_lw', 'tag_lr'] as Scope[],
      codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
      ...options,
    };
    return {
      code: await db.write((tx) => issueAuthorizationCode(tx, act(), { sessionId: null, ...input })),
      verifier,
    };
  };

  const redeem = (
    from: TestClient,
    { code: given, verifier }: { code: string; verifier: string },
    fields: Record<string, string> = {},
  ) =>
    postAs(from, '/oauth/token', {
      grant_type: 'authorization_code',
      code: given,
      code_verifier: verifier,
      redirect_uri: REDIRECT,
      ...fields,
    });

  const refresh = (from: TestClient, token: string, fields: Record<string, string> = {}) =>
    postAs(from, '/oauth/token', { grant_type: 'refresh_token', refresh_token: token, ...fields });

  return {
    post,
    postAs,
    client,
    code,
    redeem,
    refresh,
    /** The tokens that a client gets with a code of this user's. */
    async tokens(from: TestClient, userId: number, options?: Parameters<typeof code>[2]): Promise<Tokens> {
      const { status, body, text } = await redeem(from, await code(from, userId, options));
      if (status !== 200) throw new Error(`The code was refused: ${text}`);
      return body;
    },
    clientCredentials: (from: TestClient, fields: Record<string, string> = {}) =>
      postAs(from, '/oauth/token', { grant_type: 'client_credentials', ...fields }),
    /** Whether an access token opens an operation: 404 is for what it asks about, 401 for the token. */
    async opens(token: string): Promise<boolean> {
      const { status } = await server.request('GET', '/v1/assessments/none/testing_hours', { token });
      if (status !== 401 && status !== 404) throw new Error(`The answer is ${status}.`);
      return status === 404;
    },
    /** What a client library finds out about this server. */
    async discover(): Promise<oauth.AuthorizationServer> {
      const issuer = new URL(server.context.addresses.issuer);
      const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
      return oauth.processDiscoveryResponse(issuer, response);
    },
    keys,
  };
}

/** Tests run on this machine, over http. */
export const INSECURE = { [oauth.allowInsecureRequests]: true };

/** RFC 6749, section 2.3.1. */
export function basic(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}
