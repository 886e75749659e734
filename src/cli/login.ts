import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import { Type } from 'typebox';
import { fetchWithLimit } from '../auth/fetch-with-limit.ts';
import { defaultScopes } from '../auth/scopes.ts';
import { loadCommandEnvironment } from '../config/config.ts';
import { addCommand, scopesOption } from './command.ts';
import { programName, streams } from './streams.ts';
import { printJson, printLines } from './print.ts';
import { parseServerUrl, serverUnreachable } from './command-target.ts';
import { CliError } from './errors.ts';
import {
  COMMAND_LINE_CLIENT,
  removeCredentials,
  requestTokens,
  readCredentials,
  writeCredentials,
} from './credentials-file.ts';

interface LoginOptions {
  issuer?: string;
  scopes?: string[];
  browser?: boolean;
  json?: boolean;
}

/** Milliseconds. */
const SIGN_IN_TIMEOUT = 10 * 60_000;
const METADATA_TIMEOUT = 30_000;
const MAX_QUOTED_URL = 200;

/** RFC 8414, section 2. */
const MetadataSchema = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  scopes_supported: Type.Array(Type.String()),
});

export function registerLoginCommand(program: Command): void {
  addCommand(program, 'login [server]', {
    description: 'Sign in to a server with a browser.',
    notes:
      'Opens a page of the server that asks you to authorize the command line. The credentials are stored in your\n' +
      'configuration directory, readable by you only, and refreshed automatically. Commands that accept --server then use\n' +
      'this server, unless --data, ASSAY_DATA or ASSAY_DATABASE_URL is set.',
    examples: [
      ['assay login https://assay.example.com'],
      ['assay login https://assay.example.com --no-browser', 'Print the URL instead of opening a browser.'],
      [
        'assay login https://assay.example.com --issuer https://id.example.com',
        'Sign in to a server whose operator has set ASSAY_ISSUER.',
      ],
    ],
    data: false,
  })
    .addOption(scopesOption('Request these scopes (default: all that you have).'))
    .addOption(new Option('--issuer <url>', 'Expect this issuer, if it is not the URL of the server.'))
    .addOption(new Option('--no-browser', 'Print the URL instead of opening a browser.'))
    .action(async (serverArgument: string | undefined, options: LoginOptions) => {
      const environment = loadCommandEnvironment(streams().env);
      const server = parseServerUrl(serverArgument ?? environment.server ?? throwMissingServer());
      await logIn(server, environment.configFolder, options).catch((error: unknown) => {
        throw serverUnreachable(error, server);
      });
      if (options.json === true) return printJson({ server });
      printLines(`Signed in to ${server}. Run "${programName()} logout" to sign out.`);
    });

  addCommand(program, 'logout', {
    description: 'Sign out of the server of "assay login".',
    examples: [['assay logout']],
    data: false,
  }).action(async ({ json }: { json?: boolean }) => {
    const { configFolder } = loadCommandEnvironment(streams().env);
    const login = readCredentials(configFolder);
    if (login === undefined) throw new CliError('You are not signed in.');
    const { server, revocation_endpoint, refresh_token } = login;
    // Removed first, so that signing out works even without a connection to the server.
    removeCredentials(configFolder);
    const response = await fetch(revocation_endpoint, {
      method: 'POST',
      body: new URLSearchParams({ token: refresh_token, client_id: COMMAND_LINE_CLIENT }),
      redirect: 'error',
    }).catch((error: unknown) => {
      throw serverUnreachable(error, server);
    });
    await response.body?.cancel();
    if (!response.ok)
      throw new CliError(
        `${server} responded with status ${response.status}. Remove the application under Account on the server.`,
      );
    if (json === true) return printJson({ server });
    printLines(`Signed out of ${server}.`);
  });
}

function throwMissingServer(): never {
  throw new CliError(`Specify a server: run "${programName()} login https://assay.example.com".`, 2);
}

interface AuthorizationServer {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  revocationEndpoint: string;
  scopes: string[];
}

/** Authorization code flow with PKCE and a loopback redirect (RFC 8252, section 7.3). */
async function logIn(
  server: string,
  folder: string,
  { issuer = server, scopes, browser }: LoginOptions,
): Promise<void> {
  const metadata = await discover(server, issuer);
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const listener = createServer();
  listener.maxHeadersCount = 0;
  try {
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const redirect_uri = `http://${host}/callback`;
    const address = new URL(metadata.authorizationEndpoint);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: COMMAND_LINE_CLIENT,
      redirect_uri,
      scope: (scopes ?? defaultScopes(metadata.scopes)).join(' '),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }))
      address.searchParams.set(name, value);
    const callback = waitForCallback(listener, state, issuer);
    streams().stderr.write(
      `Open this URL in a browser to authorize access. Allow it only if the page names ${host}:\n${address.href}\n`,
    );
    if (browser !== false) openBrowser(address.href);
    const code = await callback;
    const tokens = await requestTokens(metadata.tokenEndpoint, {
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      code_verifier: verifier,
    });
    if (tokens === undefined) throw new CliError(`${server} rejected its own authorization code. Try again.`);
    writeCredentials(folder, {
      server,
      token_endpoint: metadata.tokenEndpoint,
      revocation_endpoint: metadata.revocationEndpoint,
      ...tokens,
    });
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

/**
 * Fetches the metadata of a server (RFC 8414). Prevents mix-up attacks, in which a server obtains the code or token of
 * another one.
 * @throws CliError if the metadata has another issuer, or an endpoint at another origin
 */
async function discover(server: string, issuer: string): Promise<AuthorizationServer> {
  const { origin, pathname } = new URL(server);
  const path = pathname === '/' ? '' : pathname;
  const response = await fetchWithLimit(`${origin}/.well-known/oauth-authorization-server${path}`, {
    method: 'GET',
    headers: { accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(METADATA_TIMEOUT),
  });
  if (!response.ok)
    throw new CliError(`${server} is not an Assay server: it responded with status ${response.status}.`);
  const { Value } = await import('typebox/value');
  const metadata: unknown = await response.json().catch(() => undefined);
  if (!Value.Check(MetadataSchema, metadata)) throw new CliError(`${server} is not an Assay server.`);
  if (metadata.issuer !== issuer)
    throw new CliError(
      `The issuer of ${server} is ${quoteUrl(metadata.issuer)}, not ${issuer}. ` +
        'Use the URL of the issuer if it is the server that you mean. If the server is yours and has ASSAY_ISSUER set, add --issuer with that value.',
    );
  for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const) {
    if (URL.parse(metadata[endpoint])?.origin !== origin)
      throw new CliError(
        `The ${endpoint} of ${server} is at another server, ${quoteUrl(metadata[endpoint])}. Nothing was sent to it.`,
      );
  }
  return {
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    revocationEndpoint: metadata.revocation_endpoint,
    scopes: metadata.scopes_supported,
  };
}

/** Returns a URL from the server in ASCII, so that it is safe to print. */
function quoteUrl(text: string): string {
  return URL.parse(text)?.href.replace(/\/$/, '').slice(0, MAX_QUOTED_URL) ?? 'not a URL';
}

/** Waits for the authorization code; responds to other requests with a 404. */
function waitForCallback(listener: Server, state: string, issuer: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new CliError('Sign-in timed out after ten minutes.')),
      SIGN_IN_TIMEOUT,
    );
    timer.unref();
    listener.on('request', (request, response) => {
      const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
      const parameters = url?.searchParams;
      const isCallback =
        url?.pathname === '/callback' &&
        parameters?.get('state') === state &&
        parameters.get('iss') === issuer;
      const code = parameters?.get('code') ?? null;
      response.writeHead(isCallback ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      if (!isCallback) return response.end('Not found.\n');
      clearTimeout(timer);
      response.end(
        code === null ? 'Access denied.\n' : 'You are signed in. You can close this page.\n',
        () =>
          code === null
            ? reject(new CliError(`Access denied (${parameters?.get('error') ?? 'no code'}).`))
            : resolve(code),
      );
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a browser if there is one; the user can also open the printed URL. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
