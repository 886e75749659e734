import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
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
    /** A folder with the product in it, built as a release is, `dist/main.js`, and each of its sources compiled, `src`. */
    product: string;
  }
}

const ROOT = join(import.meta.dirname, '../..');
/** The folder of a run, named by the process that starts it. */
const COMPILED = join(realpathSync(tmpdir()), `assay-modules-${process.pid}`);
const CLIENT = join(ROOT, 'client/src/client.ts');
const SOURCES = [join(ROOT, 'src/'), CLIENT];

/** What `server.deps.external` is to name. */
export const COMPILED_MODULES = /\/assay-modules-\d+\//;

/**
 * Has tests that import a source of the product get it as it is compiled for the run. Node.js loads that by itself, once
 * for a worker, where each project would have each of some hundred sources transformed and evaluated anew.
 */
export const compiledModules = {
  name: 'assay-compiled-modules',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined): string | undefined {
    if (source === '#client') return compiled(CLIENT);
    if (importer === undefined || !source.startsWith('.')) return undefined;
    const path = join(dirname(importer), source);
    return SOURCES.some((ours) => path.startsWith(ours)) ? compiled(path) : undefined;
  },
};

const compiled = (path: string): string =>
  join(COMPILED, path.slice(ROOT.length)).replace(/(?<=\.)tsx?$/, 'js');

/** Builds the product, and compiles every source of it to a module of its own, unless another project of the run has. */
export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  project.provide('product', COMPILED);
  try {
    mkdirSync(COMPILED);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  // What the product reads beside its sources.
  for (const name of ['assets', 'node_modules', 'openapi.json', 'package.json'])
    symlinkSync(join(ROOT, name), join(COMPILED, name));
  cpSync(join(ROOT, 'bin'), join(COMPILED, 'bin'), { recursive: true });
  const script = (name: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'scripts', name), ...args], { cwd: ROOT });
  await Promise.all([
    compileModules(),
    script('bundle.js', join(COMPILED, 'dist')),
    // Into the product's own folder, which is built again only where its sources have changed.
    script('prepare-console.js'),
  ]);
  symlinkSync(join(ROOT, 'dist/console'), join(COMPILED, 'dist/console'));
  return () => rmSync(COMPILED, { recursive: true, force: true });
}

async function compileModules(): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
      .map((name) => join(ROOT, 'src', name)),
    platform: 'node',
    resolve: { alias: { '#client': CLIENT } },
    // Packages, but for what the compiler itself adds, before and after it has found it.
    external: /^(?!#client$|@oxc-project\/)[^./\0]/,
    tsconfig: 'tsconfig.json',
    treeshake: false,
  });
  await bundle.write({
    dir: COMPILED,
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: '[name].js',
    sourcemap: true,
  });
  await bundle.close();
}
