import type {} from '@fastify/swagger';
import { Agent, request as askHttp } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, expect, inject } from 'vitest';
import { buildApp, listen } from '../../src/app.ts';
import { resolveAddresses, type Config, issuerIdentity, loadConfig } from '../../src/config/config.ts';
import { type Context, createLog, openContext } from '../../src/context.ts';
import { ensureRecurringJob, JobNotifier } from '../../src/domain/shared/jobs.ts';
import { IMPORT_JOB } from '../../src/domain/imports/import-lifecycle.ts';
import { DeniedAttempts } from '../../src/domain/audit/denied-attempts.ts';
import { loadKeys } from '../../src/domain/tokens/server-keys.ts';
import { createTestDatabase, type InitialState, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { createResponseCheck } from './response-schema-check.ts';

const YEAR = 365 * 86_400_000;

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; `undefined` when there is none. */
  body: any;
}

export interface RequestOptions {
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, with `Content-Type: application/json` unless the headers have another one. */
  raw?: string | undefined;
  /** Like `raw`, as bytes. */
  bytes?: Buffer<ArrayBuffer> | undefined;
}

export interface TestServer {
  context: Context;
  origin: string;
  /** The log so far, one JSON object per line; for a shared server, since the file got it. */
  logs(): Record<string, unknown>[];
  /** The id of the last audit event of earlier files on a shared server. */
  eventsBefore?: number;
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>;
  close(): Promise<void>;
}

/** Starts the server in this process, on a free port, with its own database on the engine of the run. */
export const startTestServer = async (
  overrides: Partial<Config> = {},
  clock: () => number = Date.now,
  state: InitialState = 'migrated',
): Promise<TestServer> => serve(await createTestDatabase(state), overrides, clock);

/** Starts a server like `startTestServer` for the tests of a file, at its top. It closes after them. */
export async function useOwnServer(...options: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...options);
  afterAll(() => server.close());
  return server;
}

let shared: Promise<TestServer & { forgetLogs(): void }> | undefined;
let sharedClock: () => number;

/**
 * The server that the files of a worker share, as starting one takes longer than most files. It ends with the worker.
 * Use it in tests that check only their own data, do not count transactions, and in which no sign-in fails. For another
 * configuration, use `startSecondServer`.
 */
export async function useSharedServer(clock: () => number = Date.now): Promise<TestServer> {
  sharedClock = clock;
  shared ??= createTestDatabase('migrated', inject('templates')).then((database) =>
    serve(database, {}, () => sharedClock(), postponeExpiry),
  );
  const server = await shared;
  const { deniedAttempts, db } = server.context;
  await deniedAttempts.flush();
  const { last } = await db.read
    .selectFrom('audit_events')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow();
  server.forgetLogs();
  // The events that imports of this file record must not be among those of the next file.
  afterAll(() => eventually(() => expectNoImportJob(server.context)));
  return { ...server, eventsBefore: last ?? 0, close: async () => undefined };
}

async function expectNoImportJob({ db }: Context): Promise<void> {
  const jobs = await db.read
    .selectFrom('jobs')
    .select(['key', 'payload', 'attempts'])
    .where('kind', '=', IMPORT_JOB)
    .execute();
  expect(jobs).toEqual([]);
}

/** Keeps a server from deleting expired rows, because files move its clock forward and back. */
async function postponeExpiry({ db }: Context): Promise<void> {
  await db.write((tx) => ensureRecurringJob(tx, 'delete-expired', Date.now() + 1_000 * YEAR));
}

/**
 * Starts a second server on the database and the connections of a running one. Close it first. Limits of the database,
 * such as the timeout of requests, are those of the first server.
 */
export async function startSecondServer(
  server: TestServer,
  overrides: Partial<Config>,
  clock: () => number = server.context.clock,
): Promise<TestServer> {
  const { db, masterKey } = server.context;
  const config = { ...server.context.config, ...overrides };
  const addresses = { ...server.context.addresses };
  const source = { masterKey, dataDirectory: config.dataDirectory, createsMasterKey: false };
  const { keys } = await loadKeys(db, source, issuerIdentity(config, addresses));
  const { destination, logs } = recordLog();
  const { app, ...started } = await start({
    ...server.context,
    config,
    addresses,
    keys,
    clock,
    log: createLog(config, destination),
    jobs: new JobNotifier(),
    deniedAttempts: new DeniedAttempts(db),
  });
  return { ...server, ...started, logs, close: () => app.close() };
}

/**
 * Starts a server on an existing database, which it closes at the end.
 * @param prepare runs before the server listens
 */
export async function serve(
  database: TestDatabase,
  overrides: Partial<Config> = {},
  clock: () => number = Date.now,
  prepare: (context: Context) => Promise<void> = async () => undefined,
): Promise<TestServer & { forgetLogs(): void }> {
  const config: Config = {
    ...loadConfig({}, { PORT: '0', ASSAY_RATE_LIMIT: '0' }),
    dataDirectory: database.dataDirectory,
    databaseUrl: database.databaseUrl,
    staffSecondFactor: 'optional',
    ...overrides,
  };
  const { destination, logs, forgetLogs } = recordLog();
  const context = await openContext(config, destination);
  context.clock = clock;
  await prepare(context);
  const { app, ...server } = await start(context);
  return {
    ...server,
    logs,
    forgetLogs,
    async close() {
      await app.close();
      await context.db.close();
      await database.drop();
    },
  };
}

function recordLog() {
  const lines: string[] = [];
  return {
    destination: { write: (line: string) => void lines.push(line) },
    logs: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    forgetLogs: () => void lines.splice(0),
  };
}

async function start(
  context: Context,
): Promise<Pick<TestServer, 'context' | 'origin' | 'request'> & { app: FastifyInstance }> {
  const app = await buildApp(context);
  const port = await listen(app, { host: context.config.host, port: 0 });
  const origin = `http://${context.config.host}:${port}`;
  Object.assign(context.addresses, resolveAddresses(context.config, origin));
  return {
    app,
    context,
    origin,
    async request(method, path, options) {
      const response = await send(origin, method, path, options);
      const { status, headers, text } = response;
      checkOf(app, context.config)(method, path, { status, type: headers.get('content-type'), text });
      return response;
    },
  };
}

/** The checks by described areas, the only setting that changes the form of responses. */
const checks = new Map<string, ReturnType<typeof createResponseCheck>>();

function checkOf(app: FastifyInstance, { areas }: Config): ReturnType<typeof createResponseCheck> {
  const key = areas.join();
  let check = checks.get(key);
  if (check === undefined) {
    check = createResponseCheck(app.swagger());
    checks.set(key, check);
  }
  return check;
}

/** Reuses connections, as browsers do. */
const agent = new Agent({ keepAlive: true });

/** Sends one request, without following redirects. */
export function send(
  origin: string,
  method: string,
  path: string,
  { token, headers = {}, body, raw, bytes }: RequestOptions = {},
): Promise<TestResponse> {
  const content = bytes ?? raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    // Escapes non-ASCII characters, as browsers do.
    const { hostname, port, pathname, search } = new URL(origin + path);
    const sent = askHttp({
      agent,
      hostname,
      port,
      method,
      path: pathname + search,
      headers: {
        accept: '*/*',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(content === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          const received = Buffer.concat(chunks);
          const isPacked = response.headers['content-encoding'] === 'br';
          const text = (isPacked ? brotliDecompressSync(received) : received).toString();
          const isJson = /[/+]json(?:;|$)/.test(response.headers['content-type'] ?? '');
          resolve({
            status: response.statusCode ?? 0,
            headers: headersOf(response.rawHeaders),
            text,
            body: isJson && text !== '' ? JSON.parse(text) : undefined,
          });
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    sent.end(content);
  });
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index < raw.length; index += 2)
    headers.append(raw[index] as string, raw[index + 1] as string);
  return headers;
}

export const engine = (): 'sqlite' | 'postgres' => inject('engine');
