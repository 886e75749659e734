import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * What starts a browser or many processes, and is the same on both engines: the pages, and commands that hand on to rules
 * that are tested on both.
 */
const ONCE = [
  'test/browser/**',
  ...['client', 'commands', 'import-progress', 'sso', 'usage', 'user-links'].map(
    (name) => `test/cli/${name}.test.ts`,
  ),
];

const suite = (engine: 'sqlite' | 'postgres') => ({
  test: {
    name: engine,
    include: ['test/**/*.test.ts'],
    exclude: engine === 'postgres' ? ONCE : [],
    provide: { engine, postgresUrl: '' },
    globalSetup: [engine === 'postgres' ? 'test/harness/global-setup.ts' : 'test/harness/browser-notice.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({
  test: {
    projects: [suite('sqlite'), suite('postgres')],
    // Many a test waits for a process that it started, so one fewer than processors leaves them idle.
    maxWorkers: availableParallelism(),
  },
});
