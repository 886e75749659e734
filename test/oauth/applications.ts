import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { Scope } from '../../src/auth/scopes.ts';
import { randomText } from '../../src/auth/secrets.ts';
import { issueAuthorizationCode } from '../../src/domain/tokens/authorization-codes.ts';
import { createOAuthClient } from '../../src/domain/tokens/oauth-clients.ts';
import type { TestResponse, TestServer } from '../harness/server.ts';

export interface TestClient {
  id: string;
  /** `null` for a public client. */
  secret: string | null;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

export const REDIRECT = 'https://app.example/callback';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** OAuth clients and their requests to the endpoints that are called without a browser. */
export function applicationsOf(server: TestServer) {
  const { db, clock, keys } = server.context;
  const changeContext = () => cliChangeContext(clock());

  /** Sends a form; a list of pairs can repeat a name. */
  const post = (
    path: string,
    fields: Record<string, string> | [string, string][],
    headers: Record<string, string> = {},
  ): Promise<TestResponse> =>
    server.request('POST', path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { ...FORM, ...headers },
    });

  /** Sends a form with client authentication: Basic, or the id of a public client. */
  const postAs = (client: TestClient, path: string, fields: Record<string, string>) =>
    client.secret === null
      ? post(path, { ...fields, client_id: client.id })
      : post(path, fields, { authorization: basic(client.id, client.secret) });

  const client = (
    input: { kind?: 'public' | 'confidential'; userId?: number | null; redirectUris?: string[] } = {},
  ): Promise<TestClient> =>
    db.write((tx) =>
      createOAuthClient(tx, changeContext(), {
        name: 'Board',
        kind: 'public',
        redirectUris: [REDIRECT],
        implicit: false,
        userId: null,
        ...input,
      }),
    );

  /** The authorization code that a user's consent creates. */
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
      code: await db.write((tx) =>
        issueAuthorizationCode(tx, changeContext(), { sessionId: null, ...input }),
      ),
      verifier,
    };
  };

  const redeem = (
    from: TestClient,
    { code: authorizationCode, verifier }: { code: string; verifier: string },
    fields: Record<string, string> = {},
  ) =>
    postAs(from, '/oauth/token', {
      grant_type: 'authorization_code',
      code: authorizationCode,
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
    async tokens(from: TestClient, userId: number, options?: Parameters<typeof code>[2]): Promise<Tokens> {
      const { status, body, text } = await redeem(from, await code(from, userId, options));
      if (status !== 200) throw new Error(`The code was refused: ${text}`);
      return body;
    },
    clientCredentials: (from: TestClient, fields: Record<string, string> = {}) =>
      postAs(from, '/oauth/token', { grant_type: 'client_credentials', ...fields }),
    /** Whether an access token is accepted: the operation returns 404, an invalid token 401. */
    async isAccepted(token: string): Promise<boolean> {
      const { status } = await server.request('GET', '/v1/assessments/none/testing_hours', { token });
      if (status !== 401 && status !== 404) throw new Error(`The answer is ${status}.`);
      return status === 404;
    },
    /** The metadata that a client library discovers. */
    async discover(): Promise<oauth.AuthorizationServer> {
      const issuer = new URL(server.context.addresses.issuer);
      const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
      return oauth.processDiscoveryResponse(issuer, response);
    },
    keys,
  };
}

/** Tests use http on this machine. */
export const INSECURE = { [oauth.allowInsecureRequests]: true };

/** RFC 6749, section 2.3.1. */
export function basic(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}
