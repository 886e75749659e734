import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { EVERY_FILE, ON_SQLITE_ALONE, PURE } from './test/suites.ts';

const shared = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // Nothing is mocked, so that files may share the modules of a worker: the application is loaded once in each.
  isolate: false,
};

/** Tests run from the sources. */
const resolve = { alias: { '#client': new URL('client/src/client.ts', import.meta.url).pathname } };

const onEngine = (engine: 'sqlite' | 'postgres', exclude: string[]) => ({
  resolve,
  test: {
    ...shared,
    name: engine as string,
    include: [EVERY_FILE],
    exclude,
    provide: { engine, postgresUrl: '', sqliteTemplate: '' },
    globalSetup: [`test/harness/${engine}-setup.ts`],
  },
});

const onNone = { resolve, test: { ...shared, name: 'pure', include: PURE } };

export default defineConfig({
  test: {
    // A file that no list names is in both of the first two; `test/house.test.ts` holds the lists to what is there.
    projects: [onEngine('sqlite', PURE), onEngine('postgres', [...PURE, ...ON_SQLITE_ALONE]), onNone],
    globalSetup: ['test/harness/release-setup.ts', 'test/harness/browser-notice.ts'],
    // Many a test waits for a process or a browser that it started: as many workers as processors leave these idle.
    maxWorkers: availableParallelism() + 1,
  },
});
