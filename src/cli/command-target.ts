import { Readable } from 'node:stream';
import type { InjectOptions } from 'fastify';
import { AssayError, type Client, createTypedClient, type Transport } from '#client';
import type { InProcessOperations } from '../app.ts';
import { type Flags, loadCommandEnvironment } from '../config/config.ts';
import type { Context } from '../context.ts';
import { programName, streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { getAccessToken, readCredentials } from './credentials-file.ts';

export interface TargetFlags extends Flags {
  server?: string;
  token?: string;
}

/** An operation whose types are not known at compile time. */
interface AnyOperation {
  parameters: { path?: Record<string, string>; query?: Record<string, unknown> };
  requestBody?: { content: { 'application/json': unknown } };
  responses: { 200: { content: { 'application/json': unknown } } };
}
type AnyPaths = Record<string, Record<'get' | 'put' | 'post' | 'patch' | 'delete', AnyOperation>>;
export type AnyClient = Client<AnyPaths>;

/** A server, with its token or a function that returns the token and refreshes it if necessary. */
interface TargetServer {
  server: string;
  token: string | (() => Promise<string>);
}

/**
 * Returns the server to use, or `undefined` for the data directory. Options take precedence over the environment, and
 * the environment over the server of `assay login`.
 * @throws CliError if a data directory and a server are given, or a server without a token
 */
export function resolveServer(flags: TargetFlags): TargetServer | undefined {
  const target = loadCommandEnvironment(streams().env);
  if (flags.data !== undefined && flags.server !== undefined)
    throw new CliError('--data and --server cannot be used together.', 2);
  if (flags.data !== undefined) return undefined;
  const saved = readCredentials(target.configFolder);
  const serverName = flags.server ?? target.server ?? (target.namesData ? undefined : saved?.server);
  if (serverName === undefined) {
    if (flags.token !== undefined)
      throw new CliError('--token requires a server. Set --server or ASSAY_SERVER.', 2);
    // Without this, the command would run as the operator.
    if (target.token !== undefined && !target.namesData)
      throw new CliError(
        'ASSAY_TOKEN requires a server. Set ASSAY_SERVER, or choose a data directory with --data.',
        2,
      );
    return undefined;
  }
  const server = parseServerUrl(serverName);
  const token = flags.token ?? target.token;
  if (token !== undefined) return { server, token };
  if (saved?.server !== server)
    throw new CliError(
      `No token for ${server}. Set --token or ASSAY_TOKEN, or run "${programName()} login ${server}".`,
      2,
    );
  return { server, token: () => getAccessToken(target.configFolder, server) };
}

/** @throws CliError if the text is not an HTTP or HTTPS URL */
export function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`The server must be a URL such as https://assay.example.com, not "${text}".`, 2);
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
}

/**
 * Runs `work` with a client for the selected server, or for the API of the data directory in this process.
 * @param options `doesImports`: whether this process also runs queued imports of the data directory
 */
export async function withApiClient<T>(
  flags: TargetFlags,
  work: (client: AnyClient) => Promise<T>,
  { doesImports = false } = {},
): Promise<T> {
  const target = resolveServer(flags);
  if (target === undefined)
    return withContext(flags, (context) => withInProcessApi(context, work, { doesImports }));
  const { server, token } = target;
  try {
    return await work(createTypedClient<AnyPaths>({ server, token }));
  } catch (error) {
    throw serverUnreachable(error, server);
  }
}

/** Like `withApiClient`, for a data directory that is already open. */
export async function withInProcessApi<T>(
  context: Context,
  work: (client: AnyClient) => Promise<T>,
  { doesImports = false } = {},
): Promise<T> {
  // Loaded on demand: a command that uses a server, or no operation, starts faster.
  const { openOperations } = await import('../app.ts');
  const operations = await openOperations(context);
  const imports = doesImports ? operations.startImports() : undefined;
  try {
    return await work(
      createTypedClient<AnyPaths>({
        server: 'http://operations.invalid',
        fetch: inProcessTransport(operations),
      }),
    );
  } finally {
    await imports?.close();
    await operations.close();
  }
}

/** Converts the error of an unreachable server or a rejected token to a CliError; returns other errors unchanged. */
export function serverUnreachable(error: unknown, server: string): unknown {
  if (error instanceof AssayError && error.status === 401)
    return new CliError(`${error.message} Use another token, or run "${programName()} login ${server}".`);
  if (!(error instanceof TypeError) || error.cause === undefined) return error;
  return new CliError(`Cannot connect to ${server} (${errorCodeOf(error.cause) ?? error.message}).`);
}

function inProcessTransport(operations: InProcessOperations): Transport {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const isUpload = request.headers.get('content-type')?.startsWith('multipart/') === true;
    const body = request.body === null ? undefined : request.body;
    const { statusCode, headers, stream } = await operations
      .request({
        method: request.method as NonNullable<InjectOptions['method']>,
        url: pathname + search,
        headers: Object.fromEntries(request.headers),
        ...(body === undefined
          ? {}
          : { payload: isUpload ? Readable.from(body) : Buffer.from(await request.arrayBuffer()) }),
        payloadAsStream: true,
      })
      .then((response) => ({ ...response, stream: () => response.stream() }));
    const list = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((item): [string, string] => [name, String(item)]),
    );
    const bodiless = statusCode === 204 || statusCode === 304;
    if (bodiless) stream().resume();
    return new Response(bodiless ? null : (Readable.toWeb(stream()) as ReadableStream), {
      status: statusCode,
      headers: list,
    });
  };
}
