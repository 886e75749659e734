import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './command.ts';
import { ensureDemo } from './demo-database.ts';
import { accountLines } from './demo-welcome.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { printJson, printLines } from './print.ts';
import { CliError } from './errors.ts';

const OUTCOME_MESSAGES = {
  loaded: 'The demo data is loaded.',
  kept: 'The demo data is there already; nothing was changed.',
  renewed:
    'The demo data was there and its manifest was not: the accounts have new passwords and further tokens.',
} as const;

export function registerDemoCommand(program: Command): void {
  addCommand(program, 'demo', {
    description: 'Load the demo data, once, and print its accounts',
    notes:
      'Makes two organizations with people, assets, vulnerabilities and testing hours, beside whatever is there. What\n' +
      'it made, with the passwords and tokens, stays in DATA/demo.json, which only its owner can read. A second call\n' +
      'changes nothing.',
    examples: [
      ['assay demo', 'load it into ./data, and show who can sign in'],
      ['assay demo --json', 'the whole manifest, for scripts'],
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
          `The manifest is ${demo.file}.`,
        );
      },
      { makesDatabase: true },
    ),
  );
}
