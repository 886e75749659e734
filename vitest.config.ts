import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { WAIT_TIMEOUT } from './test/harness/timeouts.ts';
import { LongestFirst } from './test/harness/longest-first.ts';
import { COMPILED_MODULES, compiledModules } from './test/harness/build-product.ts';
import { EVERY_FILE, IN_BROWSER, ON_SQLITE_ALONE } from './test/engine-matrix.ts';

const shared = {
  // These end what hangs. On a slow machine, a test that passes may take long.
  testTimeout: 3 * WAIT_TIMEOUT,
  // What the hook of one file makes for all of them, those of others wait for.
  hookTimeout: 5 * WAIT_TIMEOUT,
  expect: { poll: { timeout: WAIT_TIMEOUT } },
  // Nothing is mocked, so that files may share the modules of a worker: the application is loaded once in each.
  isolate: false,
  // Where something fails, vitest tells the source of it: `--enable-source-maps` would have each thread read all maps.
  server: { deps: { external: [COMPILED_MODULES] } },
};
const plugins = [compiledModules];

const project = (
  name: string,
  engine: 'sqlite' | 'postgres',
  { include = EVERY_FILE, exclude = [] }: { include?: string; exclude?: string[] },
) => ({
  plugins,
  test: {
    ...shared,
    setupFiles: engine === 'sqlite' ? ['test/harness/statement-record.ts'] : [],
    name,
    include: [include],
    exclude,
    provide: { engine, postgresUrl: '', sqliteTemplate: '', templates: '' },
    globalSetup: ['test/harness/build-product.ts', `test/harness/${engine}-setup.ts`],
  },
});

export default defineConfig({
  test: {
    projects: [
      project('sqlite', 'sqlite', { exclude: [IN_BROWSER] }),
      project('browser', 'sqlite', { include: IN_BROWSER }),
      project('postgres', 'postgres', { exclude: ON_SQLITE_ALONE }),
    ],
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/harness/skipped-notice.ts',
    // Many a test waits for a process or a browser that it started: as many workers as processors leave these idle.
    maxWorkers: availableParallelism() + 1,
  },
});
