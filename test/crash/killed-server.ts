import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { inject } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import type { TestDatabase } from '../harness/database.ts';
import { createFixtures } from '../harness/fixtures.ts';

export interface ServerProcess {
  origin: string;
  pid: number;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

/** Runs the built product over one database. */
export interface ServerRunner {
  /** Variables of the servers, in addition to those of the test. */
  environment: Readonly<Record<string, string>>;
  /** Opens the database in this process, and creates an organization with an admin. */
  openWorld(): Promise<{ db: Database; token: string }>;
  serve(): Promise<ServerProcess>;
  end(): Promise<void>;
}

/** @param settings environment variables in addition to those of the database */
export function createServerRunner(
  { dataDirectory, databaseUrl }: TestDatabase,
  settings: Record<string, string> = {},
): ServerRunner {
  const running = new Set<ChildProcess>();
  const environment: Record<string, string> = {
    ASSAY_DATA: dataDirectory,
    ASSAY_RATE_LIMIT: '0',
    ASSAY_LOG_LEVEL: 'silent',
    // On PostgreSQL, commands do not create a master key.
    ...(databaseUrl === undefined
      ? {}
      : { ASSAY_DATABASE_URL: databaseUrl, ASSAY_MASTER_KEY: randomBytes(32).toString('base64') }),
    ...settings,
  };

  function start(args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [join(inject('product'), 'dist/main.js'), ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (!running.has(child)) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  return {
    environment,
    async openWorld() {
      const context = await openContext(loadConfig({}, environment), { write: () => undefined });
      const fixtures = createFixtures({ context });
      const { uid } = await fixtures.organization('acme');
      const { token } = await fixtures.user({ organization: uid, admin: true });
      return { db: context.db, token };
    },
    async serve() {
      const child = start(['serve', '--port', '0', '--no-demo']);
      const origin = await new Promise<string>((resolve, reject) => {
        let output = '';
        const read = (chunk: Buffer): void => {
          output += chunk.toString();
          const printedOrigin = /assay listening on (http:\/\/\S+)/.exec(output)?.[1];
          if (printedOrigin !== undefined) resolve(printedOrigin);
        };
        child.stdout?.on('data', read);
        child.stderr?.on('data', read);
        child.once('exit', () => reject(new Error(output)));
      });
      return { origin, pid: child.pid ?? 0, kill: () => kill(child) };
    },
    async end() {
      await Promise.all([...running].map(kill));
    },
  };
}
