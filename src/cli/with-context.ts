import type { DestinationStream } from 'pino';
import { resolveAddresses, type Config, type Flags, loadConfig } from '../config/config.ts';
import { type CommandDatabaseOptions, type Context, openContext } from '../runtime/context.ts';
import { streams } from './streams.ts';
import { databaseOpenError } from './errors.ts';
import { databaseLocation, readServerUrl } from './server-url-file.ts';

/** In MiB. A command passes over its data once, and an import is to stay small. */
const PAGE_CACHE = 8;
const FIRST_MIGRATION = '0001-initial';

/**
 * Opens the database that the flags and the environment name, migrated, runs `work`, and closes it again.
 * A server may have the same database open. Where there is no database, only a command with `makesDatabase` makes it. Logs go to standard error, and only for `ASSAY_LOG_LEVEL=debug` or `trace`.
 */
export async function withContext<T>(
  flags: Flags,
  work: (context: Context) => Promise<T>,
  { makesDatabase: createsDatabase = false } = {},
): Promise<T> {
  const config = withoutLogs(loadConfig(flags, streams().env));
  const context = await openCommandContext(config, streams().stderr, {
    pageCache: PAGE_CACHE,
    createsDatabase,
  });
  // Links that it makes lead to the server that runs over the same folder.
  const origin = readServerUrl(config);
  if (origin !== undefined) Object.assign(context.addresses, resolveAddresses(config, origin));
  try {
    return await work(context);
  } finally {
    await context.db.close();
  }
}

/**
 * Opens a context. Says where a new database is, so that whoever meant
 * another one sees it.
 * @param destination where log lines go; standard output when absent
 * @param command see `openContext`
 * @throws Refusal when the data folder, the database or its keys cannot be used
 */
export async function openCommandContext(
  config: Config,
  destination?: DestinationStream,
  command?: CommandDatabaseOptions,
): Promise<Context> {
  try {
    const context = await openContext(config, destination, command);
    if (context.appliedMigrations[0] === FIRST_MIGRATION)
      streams().stderr.write(`New database: ${databaseLocation(config)}\n`);
    return context;
  } catch (error) {
    throw databaseOpenError(error, config);
  }
}

/** @returns the configuration with logs switched off, unless someone is debugging */
export function withoutLogs(config: Config): Config {
  const debugging = config.logLevel === 'debug' || config.logLevel === 'trace';
  return debugging ? config : { ...config, logLevel: 'silent' };
}
