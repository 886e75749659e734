import { defineConfig } from 'vitest/config';

// The pages are the same on both engines, and a browser takes its time.
const BROWSER_TESTS = 'test/browser/**';

const suite = (engine: 'sqlite' | 'postgres') => ({
  test: {
    name: engine,
    include: ['test/**/*.test.ts'],
    exclude: engine === 'postgres' ? [BROWSER_TESTS] : [],
    provide: { engine, postgresUrl: '' },
    globalSetup: [engine === 'postgres' ? 'test/harness/global-setup.ts' : 'test/harness/browser-notice.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({ test: { projects: [suite('sqlite'), suite('postgres')] } });
