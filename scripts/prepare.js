// Builds what `npm start` and `npx assay` run, the program and the console, each unless it is built from just these sources.
// An installation without its development tools has no compiler, and is then one that was built before.
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
/** What `dist` was made of, and the console in it: a digest each. */
const stamp = join(dist, '.sources');
const consoleStamp = join(dist, '.console-sources');

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
function digest(sources, projects = PROJECTS) {
  const hash = createHash('sha256');
  const settings = ['package-lock.json', 'tsconfig.json', ...projects].map((name) => join(root, name));
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
  for (const file of files(dist).filter((name) => !name.startsWith(join(dist, 'console/'))))
    if (!wanted.has(file.replace(/\.map$/, '').replace(/\.d\.ts$/, '.js'))) rmSync(file);
}

/** @returns the path of a development tool; `undefined` where it is not installed */
function tool(name, command) {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), command);
  } catch {
    return undefined;
  }
}

function build(tsc, sources, wanted) {
  rmSync(stamp, { force: true });
  for (const project of PROJECTS) {
    if (!run(tsc, '-p', project)) return;
  }
  removeLeftovers(sources);
  writeFileSync(stamp, wanted);
}

function run(script, ...options) {
  const { status } = spawnSync(process.execPath, [script, ...options], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = status ?? 1;
  return status === 0;
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

const consoleFolder = join(root, 'console');
if (existsSync(join(consoleFolder, 'src'))) {
  const consoleSources = [
    ...['index.html', 'package.json', 'tsconfig.json', 'vite.config.ts'].map((name) =>
      join(consoleFolder, name),
    ),
    ...files(join(consoleFolder, 'src')),
    ...files(client),
  ].sort();
  const wantedConsole = digest(consoleSources, []);
  const isThere = existsSync(join(dist, 'console/index.html'));
  const vite = tool('vite', 'bin/vite.js');
  if (
    vite !== undefined &&
    !(isThere && existsSync(consoleStamp) && readFileSync(consoleStamp, 'utf8') === wantedConsole)
  ) {
    rmSync(consoleStamp, { force: true });
    if (run(vite, 'build', '--logLevel', 'warn', consoleFolder)) writeFileSync(consoleStamp, wantedConsole);
  }
}
