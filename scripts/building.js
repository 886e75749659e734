// What the scripts that build have in common.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const dist = join(root, 'dist');
export const client = join(root, 'client/src');

/** @returns the paths of all files in a folder and below it */
export const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** @returns a digest of files by their content: a checkout or a copy gives them the times that it likes */
export function digestOf(paths) {
  const hash = createHash('sha256');
  for (const file of paths.filter(existsSync)) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** @returns the path of a development tool's command; `undefined` where it is not installed */
export function tool(name, command) {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), command);
  } catch {
    return undefined;
  }
}

/** Runs a script of Node.js. @returns what it wrote; `undefined` when it failed, and then this process will have */
export function run(script, ...options) {
  const { status, stdout } = spawnSync(process.execPath, [script, ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'inherit'],
    // What is built is what people get, whoever builds it: in tests libraries would be taken with all their checks.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status === 0) return stdout;
  process.exitCode = status ?? 1;
  return undefined;
}
