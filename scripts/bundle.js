// Bundles the product: `node scripts/bundle.js FOLDER`. Prints the names of the written files, one per line. All
// modules are in the folder itself, see src/paths.ts.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { filesIn, root } from './build-mode.js';

/** Modules that are started by name: the program, the worker threads, and the process of an import. */
const ENTRIES = {
  main: 'src/main.ts',
  'reader-worker': 'src/db/sqlite/reader-worker.ts',
  'checkpoint-worker': 'src/db/sqlite/checkpoint-worker.ts',
  'import-worker': 'src/importers/worker/import-worker.ts',
  'index-search-worker': 'src/jobs/index-search-worker.ts',
};

/** Packages that are not bundled: native, reading files or starting threads of their own, or rarely used. */
const EXTERNAL =
  /^(@fastify\/swagger-ui|@node-rs\/argon2|@photostructure\/sqlite|@zxcvbn-ts\/[^/]+|pg|pino)(\/|$)/;

/** Replaces the module that finds the files with operations at run time by one that imports them statically. */
const staticOperations = {
  name: 'static-operations',
  load: {
    filter: { id: /[\\/]src[\\/]api[\\/]operations\.ts$/ },
    handler(id) {
      const files = filesIn(dirname(id))
        .sort()
        .filter((file) => file !== id && /^export default operationsOf\(/m.test(readFileSync(file, 'utf8')));
      return [
        ...files.map((file, index) => `import file${index} from ${JSON.stringify(file)};`),
        `export const OPERATIONS = [${files.map((_, index) => `file${index}`).join(', ')}];`,
      ].join('\n');
    },
  },
};

const [, , folder = 'dist'] = process.argv;
const bundle = await rolldown({
  cwd: root,
  input: ENTRIES,
  platform: 'node',
  external: EXTERNAL,
  tsconfig: 'tsconfig.json',
  plugins: [staticOperations],
});
const { output } = await bundle.write({
  dir: resolve(folder),
  format: 'esm',
  entryFileNames: '[name].js',
  // Otherwise the names of all entries that share packages would become part of the name.
  chunkFileNames: ({ name }) => `${name.startsWith('packages') ? 'packages' : name}-[hash].js`,
  // Separate chunks for packages, so that reading the source maps of our code for a stack trace is fast. Each entry
  // loads only the packages that it uses.
  codeSplitting: { groups: [{ name: 'packages', test: /[\\/]node_modules[\\/]/, entriesAware: true }] },
  sourcemap: true,
  // A stack trace needs names and lines only.
  sourcemapExcludeSources: true,
});
await bundle.close();
process.stdout.write(`${output.map(({ fileName }) => fileName).join('\n')}\n`);
