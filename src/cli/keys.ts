import type { Command } from 'commander';
import { commandLine } from '../auth/callers.ts';
import { addSigningKey, listSigningKeys, removeSigningKey, type SigningKey } from '../auth/keys.ts';
import type { Context } from '../context.ts';
import { keysOutOfUse, recordRemoval, recordRotation } from '../domain/tokens/signing-keys.ts';
import { addCommand, addFamily, type CommonOptions } from './command.ts';
import { withContext } from './open.ts';
import { printJson, printLines, table } from './output.ts';

export function registerKeys(program: Command): void {
  const family = addFamily(program, 'keys', 'Keys, with which access tokens are signed');

  addCommand(family, 'rotate', {
    description: 'Make a new signing key, and take away those that no valid token needs any more',
    notes:
      'Tokens that are out stay good: the key that signed them goes on verifying, and is taken away by a later rotation.\n' +
      'A running server follows at once. Instances that have a copy of the data folder need the new files copied.',
    examples: [['assay keys rotate'], ['assay keys rotate --json', 'for a job that runs every month']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async (context) => {
      const { added, removed } = await rotate(context);
      if (json === true) return printJson({ added: added.kid, removed });
      printLines(
        `Key ${added.kid} signs from now on.`,
        ...removed.map((kid) => `Key ${kid} is taken away: no valid token needs it.`),
      );
    }),
  );

  addCommand(family, 'list', {
    description: 'List the signing keys, newest first, without their private parts',
    examples: [['assay keys list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ config }) => {
      const keys = listSigningKeys(config.dataDirectory).map(({ kid, createdAt }, index) => ({
        kid,
        created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
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
}

async function rotate(context: Context): Promise<{ added: SigningKey; removed: string[] }> {
  const { config, db, clock } = context;
  const act = commandLine(clock());
  const [before] = listSigningKeys(config.dataDirectory);
  const added = await addSigningKey(config.dataDirectory, act.now);
  await db.write((tx) => recordRotation(tx, act, { before: before?.kid ?? null, after: added.kid }));
  const removed = await keysOutOfUse(db.read, listSigningKeys(config.dataDirectory), act.now);
  for (const { kid } of removed) {
    await db.write((tx) => recordRemoval(tx, act, kid));
    removeSigningKey(config.dataDirectory, kid);
  }
  return { added, removed: removed.map(({ kid }) => kid) };
}
