import type { Command } from 'commander';
import { cliAttribution } from '../auth/callers.ts';
import { generateSigningKey } from '../auth/keys.ts';
import { masterKeyFingerprint, readMasterKeyFile, createMasterKeyFile } from '../auth/master-key.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { hasSqlite, openDatabase } from '../db/open-database.ts';
import { MasterKeyMismatch } from '../domain/tokens/deployment-keys.ts';
import { resealKeys } from '../domain/tokens/reseal-keys.ts';
import { listSigningKeys, removeSigningKey, rotateSigningKey } from '../domain/tokens/signing-keys.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { printJson, printLines, table } from './print.ts';
import { databaseMissing, databaseOpenError, CliError } from './errors.ts';

export function registerKeysCommand(program: Command): void {
  const family = addCommandGroup(program, 'keys', 'Keys, with which access tokens are signed');

  addCommand(family, 'rotate', {
    description: 'Make a new signing key, and take away those that no valid token needs any more',
    notes:
      'Tokens that are out stay good: the key that signed them goes on verifying, and is taken away by a later rotation.\n' +
      'Running servers follow at once.',
    examples: [['assay keys rotate'], ['assay keys rotate --json', 'for a job that runs every month']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, masterKey, clock }) => {
      const key = await generateSigningKey();
      const removed = await db.write((tx) => rotateSigningKey(tx, cliAttribution(clock()), masterKey, key));
      if (json === true) return printJson({ added: key.kid, removed });
      printLines(
        `Key ${key.kid} signs from now on.`,
        ...removed.map((kid) => `Key ${kid} is taken away: no valid token needs it.`),
      );
    }),
  );

  addCommand(family, 'list', {
    description: 'List the signing keys, newest first, without their private parts',
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
          'There is no key yet.',
        ),
      );
    }),
  );

  addCommand(family, 'remove <kid>', {
    description: 'Take a signing key away that leaked: every token that it signed ends at once',
    examples: [['assay keys rotate'], ['assay keys remove 3Yd0…', 'with a kid of "assay keys list"']],
  }).action((kid: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      if (!(await listSigningKeys(db.read)).some((key) => key.kid === kid)) {
        throw new CliError(`There is no key "${kid}". "assay keys list" shows them.`);
      }
      await db.write((tx) => removeSigningKey(tx, cliAttribution(clock()), kid));
      if (json === true) return printJson({ removed: kid });
      printLines(`Key ${kid} is taken away, and its tokens have ended.`);
    }),
  );

  addCommand(family, 'reseal', {
    description: 'Seal the keys in the database with another master key',
    notes:
      'The new one is ASSAY_MASTER_KEY or, without it, the key in the data folder, which is made if need be. The one\n' +
      'until now is ASSAY_OLD_MASTER_KEY, or the key in the data folder. Nothing that was signed or sealed ends.\n' +
      'Give running servers the new master key and start them again: they cannot open keys that are made from now on.',
    examples: [
      [
        'ASSAY_MASTER_KEY="$(openssl rand -base64 32)" assay keys reseal',
        'from the data folder to the environment',
      ],
      ['ASSAY_OLD_MASTER_KEY=… ASSAY_MASTER_KEY=… assay keys reseal', 'from one to another'],
    ],
  }).action(async ({ json, ...flags }: CommonOptions) => {
    const { after, changed } = await reseal(loadConfig(flags, streams().env));
    if (json === true) printJson({ fingerprint: after, changed });
    else if (changed) printLines(`The keys are sealed with the master key ${after} from now on.`);
    else printLines(`The keys are sealed with the master key ${after} already.`);
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
      const inFolder = readMasterKeyFile(dataDirectory);
      const next = masterKey ?? inFolder ?? (oldMasterKey && createMasterKeyFile(dataDirectory));
      if (next === undefined) throw new CliError('There is no master key here: set ASSAY_MASTER_KEY.', 2);
      const atHand = [oldMasterKey, inFolder].filter((key) => key !== undefined);
      const change = await db.write((tx) => resealKeys(tx, cliAttribution(Date.now()), atHand, next));
      return { after: masterKeyFingerprint(next), changed: change !== undefined };
    } finally {
      await db.close();
    }
  } catch (error) {
    if (!(error instanceof MasterKeyMismatch)) throw databaseOpenError(error, config);
    throw new CliError(
      `The keys in this database are sealed with the master key ${error.expected}, which is neither ASSAY_OLD_MASTER_KEY nor in ` +
        `${dataDirectory}/keys. Name the server's data folder with --data, or set ASSAY_OLD_MASTER_KEY.`,
    );
  }
}
