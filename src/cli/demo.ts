import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './command.ts';
import { ensureDemo } from './demo-data.ts';
import { accountLines } from './demo-welcome.ts';
import { io } from './io.ts';
import { withContext } from './open.ts';
import { printJson, printLines } from './output.ts';
import { Refusal } from './refusal.ts';

const NEWS = {
  loaded: 'The demo data is loaded.',
  kept: 'The demo data is there already; nothing was changed.',
  renewed:
    'The demo data was there and its manifest was not: the accounts have new passwords and further tokens.',
} as const;

export function registerDemo(program: Command): void {
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
        if (demo === undefined) throw new Refusal('The demo data could not be loaded. Try again.');
        if (json === true) {
          if (demo.outcome === 'renewed') io().stderr.write(`${NEWS.renewed}\n`);
          return printJson(demo.manifest);
        }
        printLines(
          NEWS[demo.outcome],
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
