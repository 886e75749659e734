import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../paths.ts';
import { printableArgument } from './print.ts';

/**
 * @param data the folder that `--data` or the environment named; `undefined` for the usual one
 * @param from the working folder: in the program's own, npm finds it; elsewhere, `npx` would ask the registry for it
 * @returns what to do with a server that has nothing yet, each command to paste
 */
export function nextStepLines(origin: string, data: string | undefined, from: string): string[] {
  const program = relative(fileURLToPath(ROOT), from).startsWith('..') ? 'assay' : 'npx assay';
  const where = data === undefined ? '' : ` --data ${printableArgument(data)}`;
  return [
    '',
    'There is no organization yet. These come next:',
    `${program} organization create lumen --name "Lumen Health"${where}`,
    `${program} user create --email you@lumen.example --organization lumen --admin${where}`,
    `${program} token create --user you@lumen.example${where}`,
    '',
    `documentation: ${origin}/docs`,
    '',
  ];
}
