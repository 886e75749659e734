import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { hasSqlite, openDatabase } from '../db/open-database.ts';
import { addCommand, type CommonOptions } from './command.ts';
import { streams } from './streams.ts';
import { printJson, printLines } from './print.ts';
import { databaseMissing, databaseOpenError, CliError } from './errors.ts';

export function registerBackupCommand(program: Command): void {
  addCommand(program, 'backup <file>', {
    description: 'Copy the SQLite database into a new file, consistent also while a server writes',
    notes:
      'The file is whole or not there. It holds everything but the master key that its keys are sealed with: keep a copy of\n' +
      'ASSAY_MASTER_KEY or DATA/keys/master.key elsewhere. To restore, stop the server, put the file back as DATA/assay.db,\n' +
      'remove assay.db-wal and assay.db-shm, and start again. PostgreSQL has tools of its own for this: pg_dump.',
    examples: [['assay backup /backups/assay-2026-11-21.db']],
  }).action(async (file: string, { json, ...flags }: CommonOptions) => {
    const config = loadConfig(flags, streams().env);
    if (config.databaseUrl !== undefined) {
      throw new CliError(
        'This copies a SQLite database, and ASSAY_DATABASE_URL names PostgreSQL. Use pg_dump.',
      );
    }
    // Opening would make what is missing.
    if (!hasSqlite(config.dataDirectory)) {
      throw databaseMissing(config);
    }
    const target = resolve(file);
    if (existsSync(target))
      throw new CliError(`${target} exists already. Choose another name, or move it away.`);
    try {
      // Not migrated first: a backup before an upgrade is the one that matters.
      const db = await openDatabase({ dataDirectory: config.dataDirectory, timeout: config.requestTimeout });
      await db.backup(target).finally(() => db.close());
    } catch (error) {
      throw backupError(error, target) ?? databaseOpenError(error, config);
    }
    if (json === true) printJson({ file: target });
    else printLines(`The database is in ${target}.`);
  });
}

function backupError(error: unknown, target: string): CliError | undefined {
  const message = error instanceof Error ? error.message : '';
  return /unable to open database: |ENOENT|ENOTDIR|EACCES|EPERM|EROFS|ENOSPC|full|disk I\/O/.test(message)
    ? new CliError(`${target} cannot be written (${message}).`)
    : undefined;
}
