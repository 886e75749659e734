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
 * Runs one command. Whatever goes wrong is told on standard error in one line. It leaves the process as it was, so that
 * many may run in one; only `serve` takes its signals and ends it.
 * @param argv what follows `assay`
 * @param given where it reads and writes; the process's own streams when absent
 * @returns the exit code: 0 done, 1 failed, 2 used wrongly
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
      // Commander has said what it had to say.
      if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
      const refusal = toCliError(error, running);
      streams().stderr.write(`assay: ${refusal.message}\n`);
      return refusal.exitCode;
    }
  });
}

/** @param first see `registerNouns` @returns every command, as commander knows them */
export function buildProgram(first?: string): Command {
  const program = new AssayCommand('assay')
    .description('Assay, a self-hosted security-testing platform')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command')
    .helpCommand('help [command]', 'explain a command')
    .showHelpAfterError('Run "assay --help" to see the commands.')
    .configureOutput({
      writeOut: (text) => streams().stdout.write(text),
      writeErr: (text) => streams().stderr.write(text),
      // The hint of `showHelpAfterError` follows on the same line.
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
    // Options belong to the command that they stand behind.
    .enablePositionalOptions()
    .addHelpText('after', OVERVIEW);
  for (const register of COMMANDS) register(program, first);
  return program;
}

const OVERVIEW = `
Every command works on the database of the data folder (--data, ASSAY_DATA, or ./data),
or on PostgreSQL when ASSAY_DATABASE_URL is set, also while a server has it open.
Those that take --server work on a server instead, also after "assay login URL".
Exit codes: 0 done, 1 failed, 2 used wrongly.

Start here:
  $ assay serve                         a server with demo data on http://127.0.0.1:8080
  $ assay serve --no-demo --port 9000   an empty one elsewhere
  $ assay user create --help            what a command takes, with examples`;

function sentence(text: string): string {
  return /[.?)]$/.test(text) ? text : `${text}.`;
}

function readVersion(): string {
  const text = readFileSync(new URL('package.json', ROOT), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
