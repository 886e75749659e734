// Builds the program and the console for `npm start` and `npx assay`, unless they were built from the same sources. An
// installation without development tools has no bundler, and must already be built.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, digestOf, dist, filesIn, root, run, tool } from './build-mode.js';

/** The digest of the sources that `dist` was built from, and the names of its files, one per line. */
const stamp = join(dist, '.sources');

function isBuilt(digest) {
  if (!existsSync(stamp)) return false;
  const [builtDigest, ...files] = readFileSync(stamp, 'utf8').trim().split('\n');
  return builtDigest === digest && files.every((name) => existsSync(join(dist, name)));
}

/**
 * Removes files of earlier builds, which would be packed otherwise. The console's folder is cleaned by its own build.
 */
function removeLeftovers(files) {
  for (const name of readdirSync(dist))
    if (name !== 'console' && !name.startsWith('.') && !files.includes(name))
      rmSync(join(dist, name), { recursive: true });
}

function build(digest) {
  rmSync(stamp, { force: true });
  const output = run(join(root, 'scripts/bundle.js'), dist);
  if (output === undefined) return;
  const files = output.trim().split('\n');
  removeLeftovers(files);
  writeFileSync(stamp, `${[digest, ...files].join('\n')}\n`);
}

/** Modules of the client that the product does not use; they need the types of the API description. */
const CLIENT_ONLY = ['index.ts', 'openapi-types.ts'].map((name) => join(client, name));
const sources = existsSync(join(root, 'src'))
  ? [...filesIn(join(root, 'src')), ...filesIn(client)]
      .filter((name) => /\.tsx?$/.test(name) && !CLIENT_ONLY.includes(name))
      .sort((one, other) => (one < other ? -1 : 1))
  : [];
const settings = ['package-lock.json', 'tsconfig.json', 'scripts/bundle.js'].map((name) => join(root, name));
const digest = digestOf([...settings, ...sources]);
if (sources.length > 0 && !isBuilt(digest)) {
  if (tool('rolldown', 'package.json') !== undefined) build(digest);
  else if (!existsSync(join(dist, 'main.js'))) {
    process.stderr.write(
      'assay: Not built, and the build tools are not installed. Run "npm ci --include=dev" to build it.\n',
    );
    // Does not fail an installation: the build may be copied to it later.
    if (process.env.npm_lifecycle_event !== 'prepare') process.exitCode = 1;
  }
}
await import('./prepare-console.js');
