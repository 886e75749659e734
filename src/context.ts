import { type DestinationStream, type Logger, pino } from 'pino';
import { type Keys, loadKeys } from './auth/keys.ts';
import { type Addresses, addressesOf, type Config } from './config.ts';
import { type Database, openDatabase } from './db/engine.ts';
import { isoTime } from './http/time.ts';

/** What a running process has. Commands make one, use it and close it; a server keeps it while it runs. */
export interface Context {
  config: Config;
  db: Database;
  keys: Keys;
  log: Logger;
  /** The time now, in milliseconds since 1970. */
  clock: () => number;
  /** Complete once a server knows where it listens. */
  addresses: Addresses;
}

/**
 * Opens the database and the keys. The database may still need its migrations.
 * @param destination where log lines go; standard output when absent
 * @param pageCache in MiB; see `DatabaseConfig`
 */
export async function openContext(
  config: Config,
  destination?: DestinationStream,
  pageCache?: number,
): Promise<Context> {
  const log = pino(
    { level: config.logLevel, base: null, timestamp: logTime },
    // Written in the background, so that no request waits for a slow reader of the log; flushed at the end.
    destination ?? pino.destination({ sync: false }),
  );
  // Before the database, which would have to be closed again if this failed.
  const keys = await loadKeys(config.dataDirectory, config.issuer);
  const db = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDirectory: config.dataDirectory,
    timeout: config.requestTimeout,
    pageCache,
  });
  const addresses = addressesOf(config, `http://${hostInUrl(config.host)}:${config.port}`);
  return { config, db, keys, log, clock: Date.now, addresses };
}

/** The time of a log line, as the JSON that pino puts into it. */
function logTime(): string {
  return `,"time":"${isoTime(Date.now())}"`;
}

/** @returns the host as it stands in an address that a browser on the same machine can open */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
