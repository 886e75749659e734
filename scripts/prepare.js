// Builds what `npm start` and `npx assay` run, the program and the console, each unless it is built from just these sources.
// An installation without its development tools has no compiler, and is then one that was built before.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { client, digestOf, dist, filesIn, root, run, tool } from './building.js';

/** In this order: the second one reads what the first one says of its types. */
const PROJECTS = ['tsconfig.client.json', 'tsconfig.build.json'];
/** What `dist` was made of: a digest. */
const stamp = join(dist, '.sources');

const compiled = (source) =>
  (source.startsWith(client)
    ? join(dist, 'client', source.slice(client.length))
    : join(dist, source.slice(join(root, 'src').length))
  ).replace(/\.tsx?$/, '.js');

function isBuilt(sources, wanted) {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) return false;
  const there = new Set(filesIn(dist));
  return sources.every((source) => there.has(compiled(source)));
}

/** What a source that is gone left behind would still be packed. The console's folder is its builder's. */
function removeLeftovers(sources) {
  const wanted = new Set(sources.map(compiled));
  for (const file of filesIn(dist).filter((name) => !name.startsWith(join(dist, 'console') + sep)))
    if (
      !wanted.has(file.replace(/\.map$/, '').replace(/\.d\.ts$/, '.js')) &&
      !file.startsWith(join(dist, '.'))
    )
      rmSync(file);
}

function build(tsc, sources, wanted) {
  rmSync(stamp, { force: true });
  if (!PROJECTS.every((project) => run(tsc, '-p', project))) return;
  removeLeftovers(sources);
  writeFileSync(stamp, wanted);
}

/** Of the client, what is its alone needs the types of the description, and the product does not. */
const CLIENT_ALONE = ['index.ts', 'description.ts'].map((name) => join(client, name));
const sources = existsSync(join(root, 'src'))
  ? [...filesIn(join(root, 'src')), ...filesIn(client)]
      .filter((name) => /\.tsx?$/.test(name) && !CLIENT_ALONE.includes(name))
      .sort()
  : [];
const settings = ['package-lock.json', 'tsconfig.json', ...PROJECTS].map((name) => join(root, name));
const wanted = digestOf([...settings, ...sources]);
if (sources.length > 0 && !isBuilt(sources, wanted)) {
  const tsc = tool('typescript', 'bin/tsc');
  if (tsc !== undefined) build(tsc, sources, wanted);
  else if (!existsSync(join(dist, 'main.js'))) {
    process.stderr.write(
      'assay: it is not built, and the compiler is not installed. Run "npm ci --include=dev", which builds it.\n',
    );
    // An installation goes on: what is built elsewhere may still be copied to it.
    if (process.env.npm_lifecycle_event !== 'prepare') process.exitCode = 1;
  }
}
await import('./prepare-console.js');
