import { Readable } from 'node:stream';
import type { InjectOptions } from 'fastify';
import { AssayError, type Client, createTypedClient, type Transport } from '#client';
import type { InProcessOperations } from '../app.ts';
import { type Flags, loadCommandEnvironment } from '../config/config.ts';
import type { Context } from '../runtime/context.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { getAccessToken, readCredentials } from './credentials-file.ts';

export interface TargetFlags extends Flags {
  server?: string;
  token?: string;
}

/** Operations as the command line calls them, which has them from the description as it runs. */
interface AnyOperation {
  parameters: { path?: Record<string, string>; query?: Record<string, unknown> };
  requestBody?: { content: { 'application/json': unknown } };
  responses: { 200: { content: { 'application/json': unknown } } };
}
type AnyPaths = Record<string, Record<'get' | 'put' | 'post' | 'patch' | 'delete', AnyOperation>>;
export type AnyClient = Client<AnyPaths>;

/** A server, and who one is there; the token may have to be got first. */
interface TargetServer {
  server: string;
  token: string | (() => Promise<string>);
}

/**
 * @returns the server that a command works on; `undefined` for the data folder. What is said on the command line wins over
 *   the environment, and both over what `assay login` left.
 * @throws Refusal when both are named, or a server and no token
 */
export function resolveServer(flags: TargetFlags): TargetServer | undefined {
  const place = loadCommandEnvironment(streams().env);
  if (flags.data !== undefined && flags.server !== undefined)
    throw new CliError('Name a data folder or a server, and not both: --data, or --server.', 2);
  if (flags.data !== undefined) return undefined;
  const saved = readCredentials(place.configFolder);
  const named = flags.server ?? place.server ?? (place.namesData ? undefined : saved?.server);
  if (named === undefined) {
    if (flags.token !== undefined)
      throw new CliError('--token is for a server. Name that with --server or ASSAY_SERVER.', 2);
    return undefined;
  }
  const server = parseServerUrl(named);
  const token = flags.token ?? place.token;
  if (token !== undefined) return { server, token };
  if (saved?.server !== server)
    throw new CliError(
      `There is no token for ${server}. Give one with --token or ASSAY_TOKEN, or run "assay login ${server}".`,
      2,
    );
  return { server, token: () => getAccessToken(place.configFolder, server) };
}

/** @throws Refusal for what is no address */
export function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new CliError(`The server must be an address such as https://assay.example.com, not "${text}".`, 2);
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
}

/**
 * Runs `work` with the operations of the server that the flags lead to, or of the data folder in this process.
 * @param options whether imports are done meanwhile, which the operations of the data folder leave to others
 */
export async function withApiClient<T>(
  flags: TargetFlags,
  work: (client: AnyClient) => Promise<T>,
  { doesImports = false } = {},
): Promise<T> {
  const place = resolveServer(flags);
  if (place === undefined)
    return withContext(flags, (context) => withInProcessApi(context, work, { doesImports }));
  const { server, token } = place;
  try {
    return await work(createTypedClient<AnyPaths>({ server, token }));
  } catch (error) {
    throw serverUnreachable(error, server);
  }
}

/** Runs `work` with the operations of a data folder that is open in this process. @param options see `withOperations` */
export async function withInProcessApi<T>(
  context: Context,
  work: (client: AnyClient) => Promise<T>,
  { doesImports = false } = {},
): Promise<T> {
  // A command that works on a server, or on no operation, does without loading them.
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

/** @returns what to tell when a server does not answer; anything else as it is */
export function serverUnreachable(error: unknown, server: string): unknown {
  if (error instanceof AssayError && error.status === 401)
    return new CliError(`${error.message} Give another token, or run "assay login ${server}".`);
  if (!(error instanceof TypeError) || error.cause === undefined) return error;
  return new CliError(
    `The server at ${server} does not answer (${errorCodeOf(error.cause) ?? error.message}).`,
  );
}

/** A transport that hands requests to the operations of this process. */
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
      .then((answer) => ({ ...answer, stream: () => answer.stream() }));
    const list = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
    );
    const bodiless = statusCode === 204 || statusCode === 304;
    if (bodiless) stream().resume();
    return new Response(bodiless ? null : (Readable.toWeb(stream()) as ReadableStream), {
      status: statusCode,
      headers: list,
    });
  };
}
