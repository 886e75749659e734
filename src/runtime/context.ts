import { type DestinationStream, type Logger, pino } from 'pino';
import type { KeyObject } from 'node:crypto';
import type { Keys } from '../auth/keys.ts';
import { readMasterKeyFile } from '../auth/master-key.ts';
import { type Addresses, resolveAddresses, type Config, issuerName } from '../config/config.ts';
import type { Database } from '../db/engine.ts';
import { hasSqlite, openDatabase } from '../db/open-database.ts';
import type { FileStore } from '../files/file-store.ts';
import { openFileStore } from '../files/open-file-store.ts';
import { JobNotifier } from '../domain/shared/jobs.ts';
import { DeniedAttempts } from '../domain/audit/denied-attempts.ts';
import { formatTimestamp } from '../domain/shared/time.ts';
import { KeysMissing, loadKeys } from '../domain/tokens/deployment-keys.ts';
import { DIST } from '../paths.ts';
import { mapStackTrace } from './source-maps.ts';

/** Bytes of log that wait for a reader; what comes then is dropped, as memory is finite. */
const MAX_LOG_BUFFER = 16 * 1024 * 1024;

/** What a running process has. Commands make one, use it and close it; a server keeps it while it runs. */
export interface Context {
  config: Config;
  db: Database;
  /** Where the contents of attachments are. */
  files: FileStore;
  keys: Keys;
  /** What the keys in the database are sealed with. */
  masterKey: KeyObject;
  log: Logger;
  /** The time now, in milliseconds since 1970. */
  clock: () => number;
  /** Names of the migrations that the database lacked when it was opened. */
  appliedMigrations: readonly string[];
  /** Tells this process of work that was added. */
  jobs: JobNotifier;
  /** What strangers were refused. */
  deniedAttempts: DeniedAttempts;
  /** Complete once a server knows where it listens. */
  addresses: Addresses;
}

/** What is different for a command. */
export interface CommandDatabaseOptions {
  /** See `DatabaseConfig`. */
  pageCache: number;
  /** Whether it may be the first one to use a database: it makes something that needs nothing else. */
  createsDatabase: boolean;
}

/** There is no database yet, and what was asked for makes none. */
export class DatabaseMissing extends Error {
  override name = 'NoDatabase';
}

/**
 * Opens the database, applies the migrations that it lacks, and opens the keys in it.
 * @param destination where log lines go; standard output when absent
 * @param command what is different for a command, which makes no master key that a server over the same database might not
 *   have
 * @throws WrongMasterKey, NoKeysYet as `openKeys` does; NoDatabase for a command that makes none, with nothing left behind
 */
export async function openContext(
  config: Config,
  destination?: DestinationStream,
  command?: CommandDatabaseOptions,
): Promise<Context> {
  const log = pino(
    { level: config.logLevel, base: null, timestamp: logTime, serializers: { err: describeError } },
    // Written in the background, so that no request waits for a slow reader of the log; flushed at the end.
    destination ?? pino.destination({ sync: false, maxLength: MAX_LOG_BUFFER }),
  );
  const outdated = (err: Error): void =>
    log.error(
      { err },
      'there are signing keys that this process cannot open: start it again with the new master key',
    );
  const addresses = resolveAddresses(config, `http://${hostInUrl(config.host)}:${config.port}`);
  const { dataDirectory, databaseUrl, masterKey } = config;
  // Opening makes the file of SQLite.
  if (command?.createsDatabase === false && databaseUrl === undefined && !hasSqlite(dataDirectory))
    throw new DatabaseMissing('There is no database yet.');
  const db = await openDatabase({
    databaseUrl,
    dataDirectory,
    timeout: config.requestTimeout,
    pageCache: command?.pageCache,
    workerDirectory: DIST,
  });
  try {
    if (command !== undefined && (await db.isEmpty())) requireInitializedDatabase(config, command);
    const appliedMigrations = await db.migrate();
    // The folder of a SQLite database is the server's.
    const createsMasterKey = command === undefined || databaseUrl === undefined;
    const source = { masterKey, dataDirectory, createsMasterKey, outdated };
    const opened = await loadKeys(db, source, issuerName(config, addresses));
    const [jobs, deniedAttempts] = [new JobNotifier(), new DeniedAttempts(db)];
    const files = openFileStore(config, db);
    return {
      config,
      db,
      files,
      appliedMigrations,
      ...opened,
      log,
      clock: Date.now,
      jobs,
      deniedAttempts,
      addresses,
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Refuses before it has tables what would be refused after: who comes next is to see that it is new. */
function requireInitializedDatabase(
  { databaseUrl, dataDirectory, masterKey }: Config,
  { createsDatabase }: CommandDatabaseOptions,
): void {
  if (databaseUrl !== undefined && masterKey === undefined && readMasterKeyFile(dataDirectory) === undefined)
    throw new KeysMissing('The database has no keys yet.');
  if (!createsDatabase) throw new DatabaseMissing('There is no database yet.');
}

/** What a log line tells of an error. Drivers put more into theirs: rows, parameters, statements. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error;
  const stack = error.stack && mapStackTrace(error.stack);
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}

/** The time of a log line, as the JSON that pino puts into it. */
function logTime(): string {
  return `,"time":"${formatTimestamp(Date.now())}"`;
}

/** @returns the host as it stands in an address that a browser on the same machine can open */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
