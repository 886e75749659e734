import type { AddressInfo } from 'node:net';
import { buildApp } from '../app.ts';
import { addressesOf, type Config } from '../config.ts';
import { type Context, hostInUrl, openContext } from '../context.ts';

const SHUTDOWN_MILLISECONDS = 10_000;

export interface RunningServer {
  context: Context;
  /** `http://HOST:PORT` */
  origin: string;
  close(): Promise<void>;
}

/** Migrates the database, and listens. Resolves when requests are answered. */
export async function startServer(config: Config): Promise<RunningServer> {
  const context = await openContext(config);
  try {
    await context.db.migrate();
    const app = await buildApp(context);
    await app.listen({ host: config.host, port: config.port, backlog: 2_048 });
    const { port } = app.server.address() as AddressInfo;
    const origin = `http://${hostInUrl(config.host)}:${port}`;
    Object.assign(context.addresses, addressesOf(config, origin));
    return {
      context,
      origin,
      async close() {
        await app.close();
        await context.db.close();
      },
    };
  } catch (error) {
    await context.db.close();
    throw error;
  }
}

/** Closes the server on SIGTERM or SIGINT: stops accepting, finishes what runs, and exits within ten seconds. */
export function closeOnSignal(server: RunningServer): void {
  const close = (signal: string): void => {
    server.context.log.info({ signal }, 'closing');
    setTimeout(() => process.exit(1), SHUTDOWN_MILLISECONDS - 500).unref();
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        server.context.log.error({ err: error }, 'closing failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', close);
  process.once('SIGINT', close);
}
