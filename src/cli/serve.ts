import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AREA_NAMES, resolveAddresses, type Config, type Flags, loadConfig } from '../config/config.ts';
import { type Context, hostInUrl } from '../context.ts';
import { addCommand } from './command.ts';
import { type DemoState, ensureDemo, updateManifestOrigin } from './demo-database.ts';
import { addressLines, welcomeLines } from './demo-welcome.ts';
import { programName, streams } from './streams.ts';
import { openCommandContext } from './with-context.ts';
import { dataOption, printLines } from './print.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { removeServerUrl, writeServerUrl } from './server-url-file.ts';
import { hasOrganizations } from '../domain/organizations/organizations.ts';

const SHUTDOWN_MILLISECONDS = 10_000;

interface RunningServer {
  context: Context;
  /** `http://HOST:PORT` */
  origin: string;
  /** The demo data; `undefined` if it is disabled or absent. */
  demo: DemoState | undefined;
  close(): Promise<void>;
}

export function registerServeCommand(program: Command): void {
  addCommand(program, 'serve', {
    description: 'Start the server, and load demo data into a database without organizations.',
    notes:
      'Prints "assay listening on http://HOST:PORT" once it is ready. Logs are JSON Lines. On SIGTERM the server stops\n' +
      'accepting connections, completes running requests, and exits within ten seconds.',
    examples: [
      ['assay serve', 'Listen on http://127.0.0.1:8080, with demo data in ./data.'],
      ['assay serve --no-demo --data /var/lib/assay', 'Start an empty server with another data directory.'],
      ['assay serve --port 0', 'Listen on any free port.'],
      ['assay serve --areas v1,assessment --port 8081', 'Serve two areas of the API only.'],
      ['ASSAY_DATABASE_URL=postgres://assay@db/assay assay serve', 'Use PostgreSQL.'],
    ],
    json: false,
  })
    .option('--port <number>', 'Listen on this port, or on any free port if 0 (env: PORT; default: 8080).')
    .option('--host <address>', 'Listen on this address (env: ASSAY_HOST; default: 127.0.0.1).')
    .option(
      '--areas <list>',
      `Serve only these areas of the API: ${AREA_NAMES.join(',')} (env: ASSAY_AREAS; default: all).`,
    )
    .option('--demo', 'Load demo data if there is no organization (env: ASSAY_DEMO; default).')
    .option('--no-demo', 'Do not load or print demo data.')
    .action(async (flags: Flags) => {
      const server = await startServer(loadConfig(flags, streams().env));
      closeOnSignal(server);
      const { origin, demo, context } = server;
      printLines(`assay listening on ${origin}`);
      if (demo !== undefined) printLines(...welcomeLines(demo.manifest, origin, context.config.areas));
      else if (!(await hasOrganizations(context.db.read))) {
        // Users paste the commands into a terminal that may lack this environment.
        const folder = context.config.dataDirectory;
        const data = flags.data ?? (folder === resolve('data') ? undefined : folder);
        printLines(...nextStepLines(origin, data));
      }
    });
}

/**
 * Migrates the database, loads demo data if enabled, and starts to listen. With demo data, the second
 * factor of staff is optional by default, because the printed passwords alone must be enough to sign in.
 * @throws CliError if the database cannot be used or the address is not available
 */
async function startServer(config: Config): Promise<RunningServer> {
  const context = await openCommandContext(config);
  try {
    const demo = config.demo ? await ensureDemo(context, true) : undefined;
    context.config = {
      ...config,
      staffSecondFactor: config.staffSecondFactor ?? (demo ? 'optional' : 'required'),
    };
    // Loaded on demand, because other commands start faster without HTTP.
    const { buildApp, listen } = await import('../app.ts');
    const app = await buildApp(context);
    const port = await listen(app, config).catch(async (error: unknown) => {
      await app.close();
      throw listenError(error, config);
    });
    const origin = `http://${hostInUrl(config.host)}:${port}`;
    Object.assign(context.addresses, resolveAddresses(config, origin));
    writeServerUrl(config, origin);
    return {
      context,
      origin,
      // With `--port 0`, the port is unknown until now.
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

/**
 * Returns the commands that set up an empty server, ready to paste.
 * @param data data directory; `undefined` for the default
 */
function nextStepLines(origin: string, data: string | undefined): string[] {
  const program = programName();
  return [
    '',
    'No organizations yet. Next steps:',
    `${program} organization create lumen --name "Lumen Health"${dataOption(data)}`,
    `${program} user create --email you@lumen.example --organization lumen --admin${dataOption(data)}`,
    `${program} token create --user you@lumen.example${dataOption(data)}`,
    '',
    ...addressLines(origin),
    '',
  ];
}

/** On SIGTERM or SIGINT stops accepting connections, completes running requests, and exits within ten seconds. */
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
        `Port ${port} on ${host} is already in use. Stop the process that uses it, or choose another port with --port (0 for any free port).`,
      );
    case 'EACCES':
      return new CliError(
        `Permission denied for port ${port} on ${host}. Choose a port above 1023 with --port.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new CliError(`${host} is not an address of this machine. Choose another with --host.`);
    default:
      return error;
  }
}
