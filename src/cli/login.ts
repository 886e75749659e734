import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import { loadCommandEnvironment } from '../config/config.ts';
import { addCommand, scopesOption } from './command.ts';
import { streams } from './streams.ts';
import { keyValueLines, printJson, printLines } from './print.ts';
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
  scopes?: string[];
  browser?: boolean;
  json?: boolean;
}

/** In milliseconds. */
const SIGN_IN_TIMEOUT = 10 * 60_000;

export function registerLoginCommand(program: Command): void {
  addCommand(program, 'login [server]', {
    description: 'Sign in to a server with a browser',
    notes:
      'Opens a page of the server that asks you to authorize the command line. The credentials are stored in your\n' +
      'configuration directory, readable by you only, and refreshed automatically. Commands that accept --server then use\n' +
      'this server, unless --data, ASSAY_DATA or ASSAY_DATABASE_URL is set.',
    examples: [
      ['assay login https://assay.example.com'],
      ['assay login https://assay.example.com --no-browser', 'print the URL instead of opening a browser'],
    ],
    data: false,
  })
    .addOption(scopesOption('scopes to request (default: all that you have)'))
    .addOption(new Option('--no-browser', 'print the URL instead of opening a browser'))
    .action(async (given: string | undefined, options: LoginOptions) => {
      const place = loadCommandEnvironment(streams().env);
      const server = parseServerUrl(given ?? place.server ?? missingServer());
      await logIn(server, place.configFolder, options).catch((error: unknown) => {
        throw serverUnreachable(error, server);
      });
      if (options.json === true) return printJson({ server });
      printLines(`Signed in to ${server}. Run "assay logout" to sign out.`);
    });

  addCommand(program, 'logout', {
    description: 'Sign out of the server of "assay login"',
    examples: [['assay logout']],
    data: false,
  }).action(async ({ json }: { json?: boolean }) => {
    const { configFolder } = loadCommandEnvironment(streams().env);
    const login = readCredentials(configFolder);
    if (login === undefined) throw new CliError('You are not signed in.');
    const { server, revocation_endpoint, refresh_token } = login;
    // Removed first, so that signing out works even if the server cannot be reached.
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
    printLines(...keyValueLines({ 'signed out of': server }));
  });
}

function missingServer(): never {
  throw new CliError('Specify a server: assay login https://assay.example.com', 2);
}

interface AuthorizationServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  revocation_endpoint: string;
  scopes_supported: string[];
}

/** Authorization code flow with PKCE and a loopback redirect (RFC 8252, section 7.3). */
async function logIn(server: string, folder: string, { scopes, browser }: LoginOptions): Promise<void> {
  const metadata = await fetchMetadata(server);
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const listener = createServer();
  listener.maxHeadersCount = 0;
  try {
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const redirect_uri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
    const address = new URL(metadata.authorization_endpoint);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: COMMAND_LINE_CLIENT,
      redirect_uri,
      scope: (scopes ?? metadata.scopes_supported).join(' '),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }))
      address.searchParams.set(name, value);
    const callback = waitForCallback(listener, state, metadata.issuer);
    streams().stderr.write(`Open this URL in a browser to authorize access:\n${address.href}\n`);
    if (browser !== false) openBrowser(address.href);
    const code = await callback;
    const tokens = await requestTokens(metadata.token_endpoint, {
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      code_verifier: verifier,
    });
    if (tokens === undefined) throw new CliError(`${server} rejected its own authorization code. Try again.`);
    const { token_endpoint, revocation_endpoint } = metadata;
    writeCredentials(folder, { server, token_endpoint, revocation_endpoint, ...tokens });
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

/** RFC 8414. The issuer is verified when the code arrives. */
async function fetchMetadata(server: string): Promise<AuthorizationServerMetadata> {
  const { origin, pathname } = new URL(server);
  const path = pathname === '/' ? '' : pathname;
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server${path}`);
  if (!response.ok)
    throw new CliError(`${server} is not an Assay server: it responded with status ${response.status}.`);
  try {
    return (await response.json()) as AuthorizationServerMetadata;
  } catch {
    throw new CliError(`${server} is not an Assay server.`);
  }
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
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const isCallback =
        pathname === '/callback' && searchParams.get('state') === state && searchParams.get('iss') === issuer;
      const code = searchParams.get('code');
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
            ? reject(new CliError(`Access denied (${searchParams.get('error') ?? 'no code'}).`))
            : resolve(code),
      );
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Ignores a missing browser: the URL has been printed. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
