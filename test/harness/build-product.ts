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
    /** The folder of templates that are created once per run and copied. */
    templates: string;
    /** A migrated, empty SQLite database to copy; an empty string on PostgreSQL. */
    sqliteTemplate: string;
    /** The URL of the cluster's `postgres` database; an empty string on SQLite. */
    postgresUrl: string;
    /** A folder with the built product: `dist/main.js` as in a release, and `src` with each source compiled. */
    product: string;
  }
}

const ROOT = join(import.meta.dirname, '../..');
/** The folder of a run, named after the process that started it. */
const COMPILED = join(realpathSync(tmpdir()), `assay-modules-${process.pid}`);
const CLIENT = join(ROOT, 'client/src/client.ts');
const SOURCES = [join(ROOT, 'src/'), CLIENT];

/** Matches compiled modules, for `server.deps.external`. */
export const COMPILED_MODULES = /\/assay-modules-\d+\//;

/**
 * Resolves imports of the product's sources to their compiled modules. Node.js loads these once per worker; otherwise
 * Vitest would transform and evaluate several hundred sources for each project.
 */
export const compiledModules = {
  name: 'assay-compiled-modules',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined): string | undefined {
    if (source === '#client') return compiled(CLIENT);
    if (importer === undefined || !source.startsWith('.')) return undefined;
    const path = join(dirname(importer), source);
    return SOURCES.some((folder) => path.startsWith(folder)) ? compiled(path) : undefined;
  },
};

const compiled = (path: string): string =>
  join(COMPILED, path.slice(ROOT.length)).replace(/(?<=\.)tsx?$/, 'js');

/** Builds the product and compiles each source to a module, once per run. */
export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  project.provide('product', COMPILED);
  try {
    mkdirSync(COMPILED);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  // Files that the product reads at run time.
  for (const name of ['assets', 'node_modules', 'openapi.json', 'package.json'])
    symlinkSync(join(ROOT, name), join(COMPILED, name));
  cpSync(join(ROOT, 'bin'), join(COMPILED, 'bin'), { recursive: true });
  const script = (name: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'scripts', name), ...args], { cwd: ROOT });
  await Promise.all([
    compileModules(),
    script('bundle.js', join(COMPILED, 'dist')),
    // The folder of the product, where only changed sources are built again.
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
    // Packages, except the helpers of the compiler, before and after it resolves them.
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
