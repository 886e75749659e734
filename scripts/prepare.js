// Builds what `npm start` and `npx assay` run, the program and the console, each unless it is built from just these sources.
// An installation without its development tools has no bundler, and is then one that was built before.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, digestOf, dist, filesIn, root, run, tool } from './building.js';

/** What `dist` was made of, a digest, and the names of its files, one a line. */
const stamp = join(dist, '.sources');

function isBuilt(wanted) {
  if (!existsSync(stamp)) return false;
  const [digest, ...files] = readFileSync(stamp, 'utf8').trim().split('\n');
  return digest === wanted && files.every((name) => existsSync(join(dist, name)));
}

/** What an earlier build left behind would still be packed. The console's folder is its builder's. */
function removeLeftovers(files) {
  for (const name of readdirSync(dist))
    if (name !== 'console' && !name.startsWith('.') && !files.includes(name))
      rmSync(join(dist, name), { recursive: true });
}

function build(wanted) {
  rmSync(stamp, { force: true });
  const output = run(join(root, 'scripts/bundle.js'), dist);
  if (output === undefined) return;
  const files = output.trim().split('\n');
  removeLeftovers(files);
  writeFileSync(stamp, `${[wanted, ...files].join('\n')}\n`);
}

/** Of the client, what is its alone needs the types of the description, and the product does not. */
const CLIENT_ALONE = ['index.ts', 'description.ts'].map((name) => join(client, name));
const sources = existsSync(join(root, 'src'))
  ? [...filesIn(join(root, 'src')), ...filesIn(client)]
      .filter((name) => /\.tsx?$/.test(name) && !CLIENT_ALONE.includes(name))
      .sort((one, other) => (one < other ? -1 : 1))
  : [];
const settings = ['package-lock.json', 'tsconfig.json', 'scripts/bundle.js'].map((name) => join(root, name));
const wanted = digestOf([...settings, ...sources]);
if (sources.length > 0 && !isBuilt(wanted)) {
  if (tool('rolldown', 'package.json') !== undefined) build(wanted);
  else if (!existsSync(join(dist, 'main.js'))) {
    process.stderr.write(
      'assay: it is not built, and what builds it is not installed. Run "npm ci --include=dev", which builds it.\n',
    );
    // An installation goes on: what is built elsewhere may still be copied to it.
    if (process.env.npm_lifecycle_event !== 'prepare') process.exitCode = 1;
  }
}
await import('./prepare-console.js');
