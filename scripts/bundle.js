// Bundles the product: `node scripts/bundle.js FOLDER`. Prints the names of the written files, one per line. All
// modules are in the folder itself, see src/paths.ts.
import { resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './build-mode.js';

/** Modules that are started by name: the program and the worker threads. */
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

const [, , folder = 'dist'] = process.argv;
const bundle = await rolldown({
  cwd: root,
  input: ENTRIES,
  platform: 'node',
  external: EXTERNAL,
  tsconfig: 'tsconfig.json',
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
