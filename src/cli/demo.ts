import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './command.ts';
import { ensureDemo } from './demo-database.ts';
import { accountLines } from './demo-welcome.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { printJson, printLines } from './print.ts';
import { CliError } from './errors.ts';

const OUTCOME_MESSAGES = {
  loaded: 'Demo data loaded.',
  kept: 'Demo data is already loaded; nothing was changed.',
  renewed:
    'Demo data was already loaded, but its manifest was missing: the accounts have new passwords and additional tokens.',
} as const;

export function registerDemoCommand(program: Command): void {
  addCommand(program, 'demo', {
    description: 'Load the demo data and print its accounts.',
    notes:
      'Creates two organizations with users, assets, vulnerabilities and testing sessions, in addition to existing data.\n' +
      'Writes the passwords and tokens to DATA/demo.json, which only its owner can read. Running it again changes nothing.',
    examples: [
      ['assay demo', 'Load demo data into ./data and print the accounts.'],
      ['assay demo --json', 'Print the manifest, for scripts.'],
    ],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(
      flags,
      async (context) => {
        const demo = await ensureDemo(context, false);
        if (demo === undefined) throw new CliError('The demo data could not be loaded. Try again.');
        if (json === true) {
          if (demo.outcome === 'renewed') streams().stderr.write(`${OUTCOME_MESSAGES.renewed}\n`);
          return printJson(demo.manifest);
        }
        printLines(
          OUTCOME_MESSAGES[demo.outcome],
          '',
          ...accountLines(demo.manifest),
          '',
          `Manifest: ${demo.file}`,
        );
      },
      { createsDatabase: true },
    ),
  );
}
