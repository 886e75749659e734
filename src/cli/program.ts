import { readFileSync } from 'node:fs';
import { type Command, CommanderError } from 'commander';
import { registerAssessmentCommand } from './assessment.ts';
import { registerBackupCommand } from './backup.ts';
import { registerClientCommand } from './client.ts';
import { ROOT } from '../paths.ts';
import { AssayCommand } from './command.ts';
import { registerCompletionCommand } from './completion.ts';
import { registerDemoCommand } from './demo.ts';
import { registerImportCommand } from './import/command.ts';
import { type Streams, streams, withStreams } from './streams.ts';
import { registerKeysCommand } from './keys.ts';
import { registerLoginCommand } from './login.ts';
import { registerMigrateCommand } from './migrate.ts';
import { registerResources } from './resource-commands.ts';
import { registerOrganizationCommand } from './organization.ts';
import { toCliError } from './errors.ts';
import { registerServeCommand } from './serve.ts';
import { registerSsoCommand } from './sso.ts';
import { registerTokenCommand } from './token.ts';
import { registerUserCommand } from './user.ts';

const COMMANDS = [
  registerServeCommand,
  registerMigrateCommand,
  registerDemoCommand,
  registerImportCommand,
  registerUserCommand,
  registerTokenCommand,
  registerClientCommand,
  registerKeysCommand,
  registerOrganizationCommand,
  registerAssessmentCommand,
  registerSsoCommand,
  registerResources,
  registerLoginCommand,
  registerBackupCommand,
  registerCompletionCommand,
];

/**
 * Runs one command. Prints an error as one line on standard error. Does not touch the process, so that several
 * commands can run in one; only `serve` handles signals and exits.
 * @param argv what follows `assay`
 * @param given streams to read and write; those of the process when absent
 * @returns the exit code: 0 success, 1 failure, 2 usage error
 */
export function runCli(argv: readonly string[], given?: Streams): Promise<number> {
  return withStreams(given, async () => {
    let running: Command | undefined;
    const program = buildProgram(argv[0]).hook('preAction', (_program, command) => {
      running = command;
    });
    try {
      await program.parseAsync(argv, { from: 'user' });
      return 0;
    } catch (error) {
      // Commander has printed the message.
      if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
      const { message, exitCode } = toCliError(error, running);
      streams().stderr.write(`assay: ${message}\n`);
      return exitCode;
    }
  });
}

/** @param first see `registerResources` @returns the program with all its commands */
export function buildProgram(first?: string): Command {
  const program = new AssayCommand('assay')
    .description('Assay, a self-hosted platform for security testing')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError('Run "assay --help" for a list of commands.')
    .configureOutput({
      writeOut: (text) => streams().stdout.write(text),
      writeErr: (text) => streams().stderr.write(text),
      // The text of `showHelpAfterError` follows on the same line.
      outputError: (message, write) =>
        write(
          `assay: ${sentence(
            message
              .replace(/^error: /, '')
              .trim()
              .replaceAll('\n', ' '),
          )} `,
        ),
    })
    .exitOverride()
    // An option belongs to the command that it follows.
    .enablePositionalOptions()
    .addHelpText('after', OVERVIEW);
  for (const register of COMMANDS) register(program, first);
  return program;
}

const OVERVIEW = `
Commands use the database in the data directory (--data, ASSAY_DATA, or ./data), or
PostgreSQL if ASSAY_DATABASE_URL is set, even while a server is running. Commands that
accept --server can use a server instead; "assay login URL" makes it the default.
Exit codes: 0 success, 1 failure, 2 usage error.

Get started:
  $ assay serve                         start a server with demo data on http://127.0.0.1:8080
  $ assay serve --no-demo --port 9000   start an empty server on another port
  $ assay user create --help            show the options and examples of a command`;

function sentence(text: string): string {
  return /[.?)]$/.test(text) ? text : `${text}.`;
}

function readVersion(): string {
  const text = readFileSync(new URL('package.json', ROOT), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
