import type { Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { openDatabase } from '../db/open-database.ts';
import { addCommand, type CommonOptions } from './command.ts';
import { streams } from './streams.ts';
import { printJson, printLines } from './print.ts';
import { databaseOpenError } from './errors.ts';

export function registerMigrateCommand(program: Command): void {
  addCommand(program, 'migrate', {
    description: 'Migrate the database to this version.',
    notes:
      'The server and all other commands migrate automatically. Concurrent migrations are safe: one runs, the others wait.\n' +
      'A migration can only be reverted by restoring a backup.',
    examples: [
      ['assay migrate', 'Migrate ./data.'],
      ['ASSAY_DATABASE_URL=postgres://assay@db/assay assay migrate', 'Migrate PostgreSQL.'],
    ],
  }).action(async ({ json, ...flags }: CommonOptions) => {
    const config = loadConfig(flags, streams().env);
    const { databaseUrl, dataDirectory, requestTimeout: timeout } = config;
    try {
      // Opens no context, because migrating needs no keys.
      const db = await openDatabase({ databaseUrl, dataDirectory, timeout });
      const applied = await db.migrate().finally(() => db.close());
      if (json === true) printJson({ applied });
      else if (applied.length === 0) printLines('The database is up to date.');
      else printLines(...applied.map((name) => `Applied ${name}.`));
    } catch (error) {
      throw databaseOpenError(error, config);
    }
  });
}
