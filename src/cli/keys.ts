import type { Command } from 'commander';
import { cliChangeContext } from '../auth/callers.ts';
import { generateSigningKey } from '../auth/keys.ts';
import { masterKeyFingerprint, readMasterKeyFile, createMasterKeyFile } from '../auth/master-key.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { hasSqlite, openDatabase } from '../db/open-database.ts';
import { MasterKeyMismatch } from '../domain/tokens/server-keys.ts';
import { resealKeys } from '../domain/tokens/reseal-keys.ts';
import { listSigningKeys, removeSigningKey, rotateSigningKey } from '../domain/tokens/signing-keys.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { programName, streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { printJson, printLines, table } from './print.ts';
import { databaseMissing, databaseOpenError, CliError } from './errors.ts';

export function registerKeysCommand(program: Command): void {
  const group = addCommandGroup(program, 'keys', 'Manage signing keys of access tokens.');

  addCommand(group, 'rotate', {
    description: 'Create a new signing key, and remove keys that no valid token needs.',
    notes:
      'Issued tokens stay valid: old keys keep verifying until a later rotation removes them. Running servers use the new\n' +
      'key at once.',
    examples: [['assay keys rotate'], ['assay keys rotate --json', 'Output JSON for a monthly job.']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, masterKey, clock }) => {
      const key = await generateSigningKey();
      const removed = await db.write((tx) => rotateSigningKey(tx, cliChangeContext(clock()), masterKey, key));
      if (json === true) return printJson({ added: key.kid, removed });
      printLines(
        `Created key ${key.kid}, which now signs access tokens.`,
        ...removed.map((kid) => `Removed key ${kid}, which no valid token needs.`),
      );
    }),
  );

  addCommand(group, 'list', {
    description: 'List signing keys, newest first.',
    examples: [['assay keys list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const keys = (await listSigningKeys(db.read)).map(({ kid, createdAt }, index) => ({
        kid,
        created_at: new Date(createdAt).toISOString(),
        use: index === 0 ? 'signs and verifies' : 'verifies',
      }));
      if (json === true) return printJson(keys);
      printLines(
        ...table(
          keys,
          { KID: (row) => row.kid, CREATED: (row) => row.created_at, USE: (row) => row.use },
          'No keys yet.',
        ),
      );
    }),
  );

  addCommand(group, 'remove <kid>', {
    description: 'Remove a leaked signing key; all tokens that it signed become invalid.',
    examples: [['assay keys rotate'], ['assay keys remove 3Yd0…', 'Use a KID from "assay keys list".']],
  }).action((kid: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      if (!(await listSigningKeys(db.read)).some((key) => key.kid === kid)) {
        throw new CliError(`Key "${kid}" not found. Run "${programName()} keys list" to list keys.`);
      }
      await db.write((tx) => removeSigningKey(tx, cliChangeContext(clock()), kid));
      if (json === true) return printJson({ removed: kid });
      printLines(`Removed key ${kid}. Tokens that it signed are no longer valid.`);
    }),
  );

  addCommand(group, 'reseal', {
    description: 'Re-encrypt the keys in the database with another master key.',
    notes:
      'The new master key is ASSAY_MASTER_KEY or, if unset, the key in the data directory, which is created if necessary.\n' +
      'The old one is ASSAY_OLD_MASTER_KEY or the key in the data directory. Tokens and secrets stay valid. Restart running\n' +
      'servers with the new master key: they cannot decrypt keys that are created from now on.',
    examples: [
      [
        'ASSAY_MASTER_KEY="$(openssl rand -base64 32)" assay keys reseal',
        'Move the master key from the data directory to the environment.',
      ],
      ['ASSAY_OLD_MASTER_KEY=… ASSAY_MASTER_KEY=… assay keys reseal', 'Replace one master key by another.'],
    ],
  }).action(async ({ json, ...flags }: CommonOptions) => {
    const { after, changed } = await reseal(loadConfig(flags, streams().env));
    if (json === true) printJson({ fingerprint: after, changed });
    else if (changed) printLines(`Keys are now encrypted with the master key ${after}.`);
    else printLines(`Keys are already encrypted with the master key ${after}.`);
  });
}

async function reseal(config: Config): Promise<{ after: string; changed: boolean }> {
  const { databaseUrl, dataDirectory, requestTimeout: timeout, masterKey, oldMasterKey } = config;
  try {
    if (databaseUrl === undefined && !hasSqlite(dataDirectory)) throw databaseMissing(config);
    const db = await openDatabase({ databaseUrl, dataDirectory, timeout });
    try {
      if (await db.isEmpty()) throw databaseMissing(config);
      await db.migrate();
      const storedKey = readMasterKeyFile(dataDirectory);
      const next = masterKey ?? storedKey ?? (oldMasterKey && createMasterKeyFile(dataDirectory));
      if (next === undefined) throw new CliError('No master key found. Set ASSAY_MASTER_KEY.', 2);
      const candidates = [oldMasterKey, storedKey].filter((key) => key !== undefined);
      const change = await db.write((tx) => resealKeys(tx, cliChangeContext(Date.now()), candidates, next));
      return { after: masterKeyFingerprint(next), changed: change !== undefined };
    } finally {
      await db.close();
    }
  } catch (error) {
    if (!(error instanceof MasterKeyMismatch)) throw databaseOpenError(error, config);
    throw new CliError(
      `This database is encrypted with the master key ${error.expected}, which is neither ASSAY_OLD_MASTER_KEY nor in ` +
        `${dataDirectory}/keys. Choose the server's data directory with --data, or set ASSAY_OLD_MASTER_KEY.`,
    );
  }
}
