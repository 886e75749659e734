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

/** How long someone may take to sign in, in milliseconds. */
const SIGN_IN_TIMEOUT = 10 * 60_000;

export function registerLoginCommand(program: Command): void {
  addCommand(program, 'login [server]', {
    description: 'Sign in to a server with a browser, so that commands work there',
    notes:
      'Opens the page on which the server asks whether the command line may act for you. What it gets is kept in your own\n' +
      'settings, which you alone can read, and renewed as long as you use it. From then on every command that takes\n' +
      '--server works there, unless a data folder is named by --data, ASSAY_DATA or ASSAY_DATABASE_URL.',
    examples: [
      ['assay login https://assay.example.com'],
      ['assay login https://assay.example.com --no-browser', 'prints the address to open'],
    ],
    data: false,
  })
    .addOption(scopesOption('what it may do; all that you may unless told'))
    .addOption(new Option('--no-browser', 'open no browser'))
    .action(async (given: string | undefined, options: LoginOptions) => {
      const place = loadCommandEnvironment(streams().env);
      const server = parseServerUrl(given ?? place.server ?? missingServer());
      await logIn(server, place.configFolder, options).catch((error: unknown) => {
        throw serverUnreachable(error, server);
      });
      if (options.json === true) return printJson({ server });
      printLines(`Commands work on ${server} now. "assay logout" ends that.`);
    });

  addCommand(program, 'logout', {
    description: 'End what "assay login" began, here and on the server',
    examples: [['assay logout']],
    data: false,
  }).action(async ({ json }: { json?: boolean }) => {
    const { configFolder } = loadCommandEnvironment(streams().env);
    const login = readCredentials(configFolder);
    if (login === undefined) throw new CliError('Nobody is signed in.');
    const { server, revocation_endpoint, refresh_token } = login;
    // What is on this machine goes first: a server that does not answer keeps nobody from leaving it.
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
        `${server} answered ${response.status}. The application is under Account there, to be removed.`,
      );
    if (json === true) return printJson({ server });
    printLines(...keyValueLines({ 'signed out of': server }));
  });
}

function missingServer(): never {
  throw new CliError('Say where: assay login https://assay.example.com', 2);
}

interface AuthorizationServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  revocation_endpoint: string;
  scopes_supported: string[];
}

/** The authorization code with PKCE, answered at a port of this machine (RFC 8252, section 7.3). */
async function logIn(server: string, folder: string, { scopes, browser }: LoginOptions): Promise<void> {
  const metadata = await fetchMetadata(server);
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const listener = createServer();
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
    const answered = waitForCallback(listener, state, metadata.issuer);
    streams().stderr.write(`Open this address in a browser and allow access:\n${address.href}\n`);
    if (browser !== false) openBrowser(address.href);
    const code = await answered;
    const tokens = await requestTokens(metadata.token_endpoint, {
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      code_verifier: verifier,
    });
    if (tokens === undefined) throw new CliError(`${server} refused the code that it gave. Try again.`);
    const { token_endpoint, revocation_endpoint } = metadata;
    writeCredentials(folder, { server, token_endpoint, revocation_endpoint, ...tokens });
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

/** RFC 8414; the address of the issuer is looked at where the code comes back. */
async function fetchMetadata(server: string): Promise<AuthorizationServerMetadata> {
  const { origin, pathname } = new URL(server);
  const path = pathname === '/' ? '' : pathname;
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server${path}`);
  if (!response.ok) throw new CliError(`${server} is no server of Assay: it answered ${response.status}.`);
  try {
    return (await response.json()) as AuthorizationServerMetadata;
  } catch {
    throw new CliError(`${server} is no server of Assay.`);
  }
}

/** @returns the code that comes back; what comes to the port beside that is answered with a 404 */
function waitForCallback(listener: Server, state: string, issuer: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new CliError('Nobody signed in within ten minutes.')),
      SIGN_IN_TIMEOUT,
    );
    timer.unref();
    listener.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const isOurs =
        pathname === '/callback' && searchParams.get('state') === state && searchParams.get('iss') === issuer;
      const code = searchParams.get('code');
      response.writeHead(isOurs ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      if (!isOurs) return response.end('There is nothing here.\n');
      clearTimeout(timer);
      response.end(
        code === null
          ? 'The command line may not act for you.\n'
          : 'You are signed in. This page can be closed.\n',
        () =>
          code === null
            ? reject(new CliError(`Access was refused (${searchParams.get('error') ?? 'no code'}).`))
            : resolve(code),
      );
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Where there is none, the address has been printed. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
