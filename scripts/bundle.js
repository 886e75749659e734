// Makes of the sources what the product runs: `node scripts/bundle.js FOLDER`. It prints the files that it wrote, one a line.
// Every module lies in the folder itself, see src/paths.ts.
import { resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './building.js';

/** What is started by its name: the program, and what threads begin with. */
const ENTRIES = {
  main: 'src/main.ts',
  'reader-worker': 'src/db/sqlite/reader-worker.ts',
  'checkpoint-worker': 'src/db/sqlite/checkpoint-worker.ts',
  'import-worker': 'src/importers/worker/import-worker.ts',
  'index-search-worker': 'src/jobs/index-search-worker.ts',
};

/** What stays a package of its own: it is native, starts threads from its files, reads its files, or is rarely needed. */
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
  // Else the names of all that share packages would stand in the name.
  chunkFileNames: ({ name }) => `${name.startsWith('packages') ? 'packages' : name}-[hash].js`,
  // Apart from our own modules, so that the map of these is small when a stack trace asks; each loads only what it uses.
  codeSplitting: { groups: [{ name: 'packages', test: /[\\/]node_modules[\\/]/, entriesAware: true }] },
  sourcemap: true,
  // A stack trace needs the names and the lines.
  sourcemapExcludeSources: true,
});
await bundle.close();
process.stdout.write(`${output.map(({ fileName }) => fileName).join('\n')}\n`);
