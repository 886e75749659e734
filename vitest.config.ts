import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { WAIT_TIMEOUT } from './test/harness/timeouts.ts';
import { LongestFirst } from './test/harness/longest-first.ts';
import { COMPILED_MODULES, compiledModules } from './test/harness/build-product.ts';
import { EVERY_FILE, IN_BROWSER, ON_SQLITE_ALONE } from './test/engine-matrix.ts';

const shared = {
  // Stop hanging tests only: on a slow machine, a passing test may take long.
  testTimeout: 3 * WAIT_TIMEOUT,
  // A hook may wait for data that the hook of another file prepares for all files.
  hookTimeout: 5 * WAIT_TIMEOUT,
  expect: { poll: { timeout: WAIT_TIMEOUT } },
  // Load the application once per worker. Files can share its modules, as no test mocks any.
  isolate: false,
  // Vitest maps stack traces to the sources; with `--enable-source-maps`, each thread would read every map.
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
    // Tests often wait for child processes and browsers, so run more workers than processors.
    maxWorkers: availableParallelism() + 1,
  },
});
