import { relative } from 'node:path';
import { printableArgument } from './output.ts';

/** How this program is called here: in its own folder, npm finds it. */
const PROGRAM = relative(process.cwd(), import.meta.dirname).startsWith('..') ? 'assay' : 'npx assay';

/**
 * @param data the folder that `--data` named; `undefined` for the usual one
 * @returns what to do with a server that has nothing yet, each command to paste
 */
export function firstSteps(origin: string, data: string | undefined): string[] {
  const where = data === undefined ? '' : ` --data ${printableArgument(data)}`;
  return [
    '',
    'There is no organization yet. These come next:',
    `${PROGRAM} organization create lumen --name "Lumen Health"${where}`,
    `${PROGRAM} user create --email you@lumen.example --organization lumen --admin${where}`,
    `${PROGRAM} token create --user you@lumen.example${where}`,
    '',
    `documentation: ${origin}/docs`,
    '',
  ];
}
