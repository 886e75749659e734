import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../paths.ts';
import { printableArgument } from './print.ts';

/**
 * Returns the commands that set up an empty server, ready to paste.
 * @param data data directory; `undefined` for the default
 * @param from working directory; outside of the program's own, `npx` would look in the registry
 */
export function nextStepLines(origin: string, data: string | undefined, from: string): string[] {
  const program = relative(fileURLToPath(ROOT), from).startsWith('..') ? 'assay' : 'npx assay';
  const where = data === undefined ? '' : ` --data ${printableArgument(data)}`;
  return [
    '',
    'No organizations yet. Next steps:',
    `${program} organization create lumen --name "Lumen Health"${where}`,
    `${program} user create --email you@lumen.example --organization lumen --admin${where}`,
    `${program} token create --user you@lumen.example${where}`,
    '',
    `API reference: ${origin}/docs`,
    '',
  ];
}
