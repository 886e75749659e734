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
    description: 'Back up the SQLite database to a new file, even while the server is running.',
    notes:
      'The backup is complete or not written at all. It does not contain the master key: keep a copy of ASSAY_MASTER_KEY or\n' +
      'DATA/keys/master.key elsewhere. To restore, stop the server, copy the file to DATA/assay.db, delete assay.db-wal and\n' +
      'assay.db-shm, and start the server. For PostgreSQL, use pg_dump.',
    examples: [['assay backup /backups/assay-2026-11-21.db']],
  }).action(async (file: string, { json, ...flags }: CommonOptions) => {
    const config = loadConfig(flags, streams().env);
    if (config.databaseUrl !== undefined) {
      throw new CliError(
        'assay backup supports SQLite only, but ASSAY_DATABASE_URL is set. Use pg_dump for PostgreSQL.',
      );
    }
    // Checked first, because opening a missing database creates it.
    if (!hasSqlite(config.dataDirectory)) {
      throw databaseMissing(config);
    }
    const target = resolve(file);
    if (existsSync(target))
      throw new CliError(`${target} already exists. Choose another name, or remove it first.`);
    try {
      // Not migrated, so that users can back up before an upgrade.
      const db = await openDatabase({ dataDirectory: config.dataDirectory, timeout: config.requestTimeout });
      await db.backup(target).finally(() => db.close());
    } catch (error) {
      throw backupError(error, target) ?? databaseOpenError(error, config);
    }
    if (json === true) printJson({ file: target });
    else printLines(`Backup written to ${target}.`);
  });
}

function backupError(error: unknown, target: string): CliError | undefined {
  const message = error instanceof Error ? error.message : '';
  return /unable to open database: |ENOENT|ENOTDIR|EACCES|EPERM|EROFS|ENOSPC|full|disk I\/O/.test(message)
    ? new CliError(`Cannot write ${target} (${message}).`)
    : undefined;
}
