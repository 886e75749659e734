import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'sqlite' | 'postgres';
    /** A folder for what is made once in the run, and copied. */
    templates: string;
    /** A migrated database that holds nothing, to copy; empty on PostgreSQL. */
    sqliteTemplate: string;
    /** The address of the cluster's `postgres` database; empty on SQLite. */
    postgresUrl: string;
    /** A folder with the product in it, compiled as a release is: `dist/main.js`. */
    release: string;
  }
}

const ROOT = new URL('../..', import.meta.url).pathname;

/** Compiles the product once for the whole run, into a folder of its own. */
export default async function setup(project: TestProject): Promise<() => void> {
  const release = mkdtempSync(join(tmpdir(), 'assay-release-'));
  copyFileSync(join(ROOT, 'package.json'), join(release, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(release, 'node_modules'));
  cpSync(join(ROOT, 'bin'), join(release, 'bin'), { recursive: true });
  for (const name of ['assets', 'openapi.json']) symlinkSync(join(ROOT, name), join(release, name));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  // Types are checked by `npm run types`; to check them here as well would take ten times as long as to compile.
  const compile = (settings: string, folder: string) =>
    promisify(execFile)(
      process.execPath,
      [compiler, '-p', settings, '--noCheck', '--outDir', join(release, folder)],
      { cwd: ROOT },
    );
  await Promise.all([
    compile('tsconfig.client.json', 'dist/client'),
    compile('tsconfig.build.json', 'dist'),
    // Into the product's own folder, from which the server of the tests gives it as well.
    promisify(execFile)(process.execPath, [join(ROOT, 'scripts/prepare-console.js')], { cwd: ROOT }),
  ]);
  symlinkSync(join(ROOT, 'dist/console'), join(release, 'dist/console'));
  project.provide('release', release);
  return () => rmSync(release, { recursive: true, force: true });
}
