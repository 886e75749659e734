import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { resolveAddresses, type Config, type Flags, loadConfig } from '../config/config.ts';
import { type Context, hostInUrl } from '../runtime/context.ts';
import { AREA_NAMES } from '../config/config.ts';
import { addCommand } from './command.ts';
import { type DemoState, ensureDemo, updateManifestOrigin } from './demo-database.ts';
import { welcomeLines } from './demo-welcome.ts';
import { streams } from './streams.ts';
import { openCommandContext } from './with-context.ts';
import { printLines } from './print.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { nextStepLines } from './first-steps.ts';
import { removeServerUrl, writeServerUrl } from './server-url-file.ts';
import { hasOrganizations } from '../domain/organizations/organizations.ts';

const SHUTDOWN_MILLISECONDS = 10_000;

interface RunningServer {
  context: Context;
  /** `http://HOST:PORT` */
  origin: string;
  /** The demo data, if the configuration wants it and the database has it. */
  demo: DemoState | undefined;
  close(): Promise<void>;
}

export function registerServeCommand(program: Command): void {
  addCommand(program, 'serve', {
    description: 'Serve the API, and load demo data into a database that has no organization',
    notes:
      'Prints "assay listening on http://HOST:PORT" when it is ready, and logs as lines of JSON. SIGTERM stops it:\n' +
      'it accepts nothing more, finishes what runs, and exits within ten seconds.',
    examples: [
      ['assay serve', 'on http://127.0.0.1:8080, with demo data in ./data'],
      ['assay serve --no-demo --data /var/lib/assay', 'an empty one, elsewhere'],
      ['assay serve --port 0', 'on a free port'],
      ['assay serve --areas v1,assessment --port 8081', 'two areas of the API only'],
      ['ASSAY_DATABASE_URL=postgres://assay@db/assay assay serve', 'on PostgreSQL'],
    ],
    json: false,
  })
    .option('--port <number>', 'where to listen (PORT; 8080 unless told); 0 picks a free one')
    .option('--host <address>', 'where to listen (ASSAY_HOST; 127.0.0.1 unless told)')
    .option('--areas <list>', `areas to serve (ASSAY_AREAS; all unless told): ${AREA_NAMES.join(',')}`)
    .option('--demo', 'load demo data when there is no organization (ASSAY_DEMO; the default)')
    .option('--no-demo', 'load none, and print none')
    .action(async (flags: Flags) => {
      const server = await startServer(loadConfig(flags, streams().env));
      closeOnSignal(server);
      const { origin, demo, context } = server;
      printLines(`assay listening on ${origin}`);
      if (demo !== undefined) printLines(...welcomeLines(demo.manifest, origin, context.config.areas));
      else if (!(await hasOrganizations(context.db.read))) {
        // Another terminal has another environment.
        const folder = context.config.dataDirectory;
        const data = flags.data ?? (folder === resolve('data') ? undefined : folder);
        printLines(...nextStepLines(origin, data, process.cwd()));
      }
    });
}

/**
 * Migrates the database, loads the demo data that the configuration wants, and listens. Resolves when requests are
 * answered.
 * @throws Refusal when the database cannot be used, or the address cannot be listened on
 */
async function startServer(config: Config): Promise<RunningServer> {
  const context = await openCommandContext(config);
  try {
    const demo = config.demo ? await ensureDemo(context, true) : undefined;
    // Only a server pays for loading the HTTP part.
    const { buildApp } = await import('../app.ts');
    const app = await buildApp(context);
    await app
      .listen({ host: config.host, port: config.port, backlog: 2_048 })
      .catch(async (error: unknown) => {
        await app.close();
        throw listenError(error, config);
      });
    const { port } = app.server.address() as AddressInfo;
    const origin = `http://${hostInUrl(config.host)}:${port}`;
    Object.assign(context.addresses, resolveAddresses(config, origin));
    writeServerUrl(config, origin);
    return {
      context,
      origin,
      // With `--port 0` nobody knew it before.
      demo: demo && updateManifestOrigin(demo, context.addresses.clientBaseUrl),
      async close() {
        removeServerUrl(config);
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
function closeOnSignal(server: RunningServer): void {
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

function listenError(error: unknown, { host, port }: Config): unknown {
  switch (errorCodeOf(error)) {
    case 'EADDRINUSE':
      return new CliError(
        `Port ${port} on ${host} is taken. Stop what uses it, or choose another with --port (0 picks a free one).`,
      );
    case 'EACCES':
      return new CliError(`Port ${port} on ${host} needs more rights. Choose one above 1023 with --port.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new CliError(`${host} is no address of this machine. Choose another with --host.`);
    default:
      return error;
  }
}
