// Shared by the build scripts.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const dist = join(root, 'dist');
export const client = join(root, 'client/src');

/** @returns the paths of all files in a folder, recursively */
export const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** @returns a digest of the files' contents, as checkouts and copies change modification times */
export function digestOf(paths) {
  const hash = createHash('sha256');
  for (const file of paths.filter(existsSync)) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** @returns the path of a development tool's file; `undefined` if the tool is not installed */
export function tool(name, command) {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), command);
  } catch {
    return undefined;
  }
}

/** Runs a Node.js script. @returns its output; `undefined` if it failed, and sets the exit code of this process */
export function run(script, ...options) {
  const { status, stdout } = spawnSync(process.execPath, [script, ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'inherit'],
    // Builds for production even when tests run the build: otherwise libraries would include their development checks.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status === 0) return stdout;
  process.exitCode = status ?? 1;
  return undefined;
}
