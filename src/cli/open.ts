import type { DestinationStream } from 'pino';
import { type Config, type Flags, loadConfig } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { openingRefusal } from './refusal.ts';

/** In MiB. A command passes over its data once, and an import is to stay small. */
const PAGE_CACHE = 8;

/**
 * Opens the database that the flags and the environment name, migrated, runs `work`, and closes it again.
 * A server may have the same database open. Logs go to standard error, and only for `ASSAY_LOG_LEVEL=debug` or `trace`.
 */
export async function withContext<T>(flags: Flags, work: (context: Context) => Promise<T>): Promise<T> {
  const context = await openMigrated(quiet(loadConfig(flags)), process.stderr, PAGE_CACHE);
  try {
    return await work(context);
  } finally {
    await context.db.close();
  }
}

/**
 * Opens a context and applies the migrations that its database lacks.
 * @param destination where log lines go; standard output when absent
 * @param pageCache in MiB; see `DatabaseConfig`
 * @throws Refusal when the data folder or the database cannot be used
 */
export async function openMigrated(
  config: Config,
  destination?: DestinationStream,
  pageCache?: number,
): Promise<Context> {
  let context: Context | undefined;
  try {
    context = await openContext(config, destination, pageCache);
    await context.db.migrate();
    return context;
  } catch (error) {
    await context?.db.close();
    throw openingRefusal(error, config);
  }
}

/** @returns the configuration with logs switched off, unless someone is debugging */
export function quiet(config: Config): Config {
  const debugging = config.logLevel === 'debug' || config.logLevel === 'trace';
  return debugging ? config : { ...config, logLevel: 'silent' };
}
