import { defineConfig } from 'vitest/config';

const suite = (engine: 'sqlite' | 'postgres') => ({
  test: {
    name: engine,
    include: ['test/**/*.test.ts'],
    provide: { engine, postgresUrl: '' },
    ...(engine === 'postgres' ? { globalSetup: ['test/harness/global-setup.ts'] } : {}),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({ test: { projects: [suite('sqlite'), suite('postgres')] } });
