import { type DestinationStream, type Logger, pino } from 'pino';
import type { KeyObject } from 'node:crypto';
import type { Keys } from './auth/keys.ts';
import { readMasterKeyFile } from './auth/master-key.ts';
import { type Addresses, resolveAddresses, type Config, issuerIdentity } from './config/config.ts';
import type { Database } from './db/database.ts';
import { hasSqlite, openDatabase } from './db/open-database.ts';
import type { FileStore } from './files/file-store.ts';
import { openFileStore } from './files/file-storage.ts';
import { JobNotifier } from './domain/shared/jobs.ts';
import { DeniedAttempts } from './domain/audit/denied-attempts.ts';
import { formatTimestamp } from './domain/shared/time.ts';
import { KeysMissing, type KeySource, loadKeys } from './domain/tokens/server-keys.ts';
import { DIST } from './paths.ts';
import { mapStackTrace } from './lib/source-maps.ts';

/** Bytes of buffered log lines. Further lines are dropped while the reader of the log is slower. */
const MAX_LOG_BUFFER = 16 * 1024 * 1024;

/** The dependencies of a process. Each command opens one and closes it; a server keeps it while it runs. */
export interface Context {
  config: Config;
  db: Database;
  files: FileStore;
  keys: Keys;
  masterKey: KeyObject;
  log: Logger;
  /** The current time in milliseconds since 1970. */
  clock: () => number;
  appliedMigrations: readonly string[];
  /** Notifies the job runner of this process of added jobs. */
  jobs: JobNotifier;
  /** Records denied requests in the audit log. */
  deniedAttempts: DeniedAttempts;
  /** Complete once the server listens. */
  addresses: Addresses;
}

export interface CommandDatabaseOptions {
  /** See `DatabaseConfig`. */
  pageCache: number;
  createsDatabase: boolean;
}

/** The database does not exist, and the command may not create it. */
export class DatabaseMissing extends Error {
  override name = 'DatabaseMissing';
}

/**
 * Opens the database, applies the migrations that it lacks, and opens the keys in it.
 * @param destination the stream for log lines; standard output by default
 * @param command absent for a server. A command on PostgreSQL creates no master key, which the server might not have
 * @throws what `loadKeys` throws; DatabaseMissing for a command that may not create the database, with nothing created
 */
export async function openContext(
  config: Config,
  destination?: DestinationStream,
  command?: CommandDatabaseOptions,
): Promise<Context> {
  const log = createLog(config, destination);
  const onMismatch = (err: Error): void =>
    log.error({ err }, 'some signing keys cannot be decrypted: restart this process with the new master key');
  const addresses = resolveAddresses(config, `http://${hostInUrl(config.host)}:${config.port}`);
  const { dataDirectory, databaseUrl, masterKey } = config;
  // Opening would create the file of SQLite.
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
    // The data folder of SQLite is the server's own, and with it the master key.
    const createsMasterKey = command === undefined || databaseUrl === undefined;
    const source: KeySource = { masterKey, dataDirectory, createsMasterKey, onMismatch };
    const opened = await loadKeys(db, source, issuerIdentity(config, addresses));
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

/** @param destination standard output by default */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>, destination?: DestinationStream): Logger {
  return pino(
    { level: logLevel, base: null, timestamp: logTime, serializers: { err: describeError } },
    // Asynchronous, so that no request waits for a slow reader of the log. Flushed on exit.
    destination ?? pino.destination({ sync: false, maxLength: MAX_LOG_BUFFER }),
  );
}

/** Fails before the tables exist, so that the next process still finds a new database. */
function requireInitializedDatabase(
  { databaseUrl, dataDirectory, masterKey }: Config,
  { createsDatabase }: CommandDatabaseOptions,
): void {
  if (databaseUrl !== undefined && masterKey === undefined && readMasterKeyFile(dataDirectory) === undefined)
    throw new KeysMissing('The database has no keys yet.');
  if (!createsDatabase) throw new DatabaseMissing('There is no database yet.');
}

/** Serializes an error for the log, without what drivers add to theirs: rows, parameters, statements. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error;
  const stack = error.stack && mapStackTrace(error.stack);
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}

/** The JSON member that pino adds to each log line. */
function logTime(): string {
  return `,"time":"${formatTimestamp(Date.now())}"`;
}

/** @returns the host for a URL that a browser on the same machine can open */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
