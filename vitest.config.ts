import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * What starts a browser or many processes, and is the same on both engines: the pages, and commands that hand on to rules
 * that are tested on both.
 */
const ONCE = [
  'test/browser/**',
  ...['client', 'commands', 'completion', 'import-progress', 'sso', 'usage', 'user-links'].map(
    (name) => `test/cli/${name}.test.ts`,
  ),
];

const suite = (engine: 'sqlite' | 'postgres') => ({
  test: {
    name: engine,
    include: ['test/**/*.test.ts'],
    exclude: engine === 'postgres' ? ONCE : [],
    provide: { engine, postgresUrl: '', sqliteTemplate: '' },
    globalSetup: [`test/harness/${engine}-setup.ts`],
    // Nothing is mocked, so that files may share the modules of a worker: the application is loaded once in each.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({
  test: {
    projects: [suite('sqlite'), suite('postgres')],
    globalSetup: ['test/harness/release-setup.ts', 'test/harness/browser-notice.ts'],
    // Many a test waits for a process that it started, so one fewer than processors leaves them idle.
    maxWorkers: availableParallelism(),
  },
});
