// Builds what `npm start` and `npx assay` run, unless it is built from just these sources. An installation without its
// development tools has no compiler, and is then one that was built before.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
/** In this order: the second one reads what the first one says of its types. */
const PROJECTS = ['tsconfig.client.json', 'tsconfig.build.json'];
/** What `dist` was made of: a digest. */
const stamp = join(dist, '.sources');

const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const client = join(root, 'client/src');
const compiled = (source) =>
  (source.startsWith(client)
    ? join(dist, 'client', source.slice(client.length))
    : join(dist, source.slice(join(root, 'src').length))
  ).replace(/\.tsx?$/, '.js');

/** By content: a checkout or a copy gives files the times that it likes. */
function digest(sources) {
  const hash = createHash('sha256');
  const settings = ['package-lock.json', 'tsconfig.json', ...PROJECTS].map((name) => join(root, name));
  for (const file of [...settings, ...sources].filter(existsSync)) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function isBuilt(sources, wanted) {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) return false;
  const there = new Set(files(dist));
  return sources.every((source) => there.has(compiled(source)));
}

/** What a source that is gone left behind would still be packed. */
function removeLeftovers(sources) {
  const wanted = new Set(sources.map(compiled));
  for (const file of files(dist))
    if (!wanted.has(file.replace(/\.map$/, '').replace(/\.d\.ts$/, '.js'))) rmSync(file);
}

function compiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin/tsc');
  } catch {
    return undefined;
  }
}

function build(tsc, sources, wanted) {
  rmSync(stamp, { force: true });
  for (const project of PROJECTS) {
    const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' });
    if (status !== 0) return (process.exitCode = status ?? 1);
  }
  removeLeftovers(sources);
  writeFileSync(stamp, wanted);
}

/** Of the client, what is its alone needs the types of the description, and the product does not. */
const CLIENT_ALONE = ['index.ts', 'description.ts'].map((name) => join(client, name));
const sources = existsSync(join(root, 'src'))
  ? [...files(join(root, 'src')), ...files(client)]
      .filter((name) => /\.tsx?$/.test(name) && !CLIENT_ALONE.includes(name))
      .sort()
  : [];
const wanted = digest(sources);
if (sources.length > 0 && !isBuilt(sources, wanted)) {
  const tsc = compiler();
  if (tsc !== undefined) build(tsc, sources, wanted);
  else if (!existsSync(join(dist, 'main.js'))) {
    process.stderr.write(
      'assay: it is not built, and the compiler is not installed. Run "npm ci --include=dev", which builds it.\n',
    );
    // An installation goes on: what is built elsewhere may still be copied to it.
    if (process.env.npm_lifecycle_event !== 'prepare') process.exitCode = 1;
  }
}
