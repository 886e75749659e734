import type { DestinationStream } from 'pino';
import { databaseLocation, resolveAddresses, type Config, type Flags, loadConfig } from '../config/config.ts';
import { type CommandDatabaseOptions, type Context, openContext } from '../context.ts';
import { streams } from './streams.ts';
import { databaseOpenError } from './errors.ts';
import { readServerUrl } from './server-url-file.ts';

/** MiB. Small, because a command reads its data once. */
const PAGE_CACHE = 8;
const FIRST_MIGRATION = '0001-initial';

/**
 * Opens and migrates the database that the options and the environment select, runs `work`, and closes the database.
 * Creates a missing database only with `createsDatabase`. Logs to standard error if `ASSAY_LOG_LEVEL` is `debug` or
 * `trace`.
 */
export async function withContext<T>(
  flags: Flags,
  work: (context: Context) => Promise<T>,
  { createsDatabase = false } = {},
): Promise<T> {
  const config = withoutLogs(loadConfig(flags, streams().env));
  const context = await openCommandContext(config, streams().stderr, {
    pageCache: PAGE_CACHE,
    createsDatabase,
  });
  // Links point to the server that is running on this data directory.
  const origin = readServerUrl(config);
  if (origin !== undefined) Object.assign(context.addresses, resolveAddresses(config, origin));
  try {
    return await work(context);
  } finally {
    await context.db.close();
  }
}

/**
 * Opens a context. Prints the location of a new database.
 * @param destination stream for logs; default: standard output
 * @param command see `openContext`
 * @throws CliError if the data directory, the database or its keys cannot be used
 */
export async function openCommandContext(
  config: Config,
  destination?: DestinationStream,
  command?: CommandDatabaseOptions,
): Promise<Context> {
  try {
    const context = await openContext(config, destination, command);
    if (context.appliedMigrations[0] === FIRST_MIGRATION)
      streams().stderr.write(`Created the database ${databaseLocation(config)}.\n`);
    return context;
  } catch (error) {
    throw databaseOpenError(error, config);
  }
}

/** Disables logs, except for the levels debug and trace. */
export function withoutLogs(config: Config): Config {
  const debugging = config.logLevel === 'debug' || config.logLevel === 'trace';
  return debugging ? config : { ...config, logLevel: 'silent' };
}
