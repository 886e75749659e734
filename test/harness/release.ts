import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The folder of the run, in the process that starts it, with the product as it is released. */
export const RELEASE = join(realpathSync(tmpdir()), `assay-release-${process.pid}`);

const ROOT = join(import.meta.dirname, '../..');
/** What is compiled, and where to. */
const COMPILED = [
  [join(ROOT, 'src/'), join(RELEASE, 'dist/')],
  [join(ROOT, 'client/src/client.ts'), join(RELEASE, 'dist/client/client.ts')],
] as const;

/** @returns where a source of the product is compiled; `undefined` for what is no source of it */
function compiled(path: string): string | undefined {
  for (const [from, to] of COMPILED)
    if (path.startsWith(from)) return (to + path.slice(from.length)).replace(/(?<=\.)tsx?$/, 'js');
  return undefined;
}

/**
 * Has tests that import a source of the product get it as it is compiled for the run. Node.js loads that by itself, once
 * for a worker, where each project would have each of some hundred sources transformed and evaluated anew.
 */
export const productCompiled = {
  name: 'assay-product-compiled',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined): string | undefined {
    if (importer === undefined || !source.startsWith('.')) return undefined;
    return compiled(join(dirname(importer), source));
  },
};
