import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { registerBackupCommand } from './backup.ts';
import { registerClientCommand } from './client.ts';
import { ROOT } from '../paths.ts';
import { addCommandGroup, writeUsageError } from './command.ts';
import { registerCompletionCommand } from './completion.ts';
import { registerDemoCommand } from './demo.ts';
import { registerImportCommand } from './import/command.ts';
import { programName, type Streams, streams, withStreams } from './streams.ts';
import { registerKeysCommand } from './keys.ts';
import { registerLoginCommand } from './login.ts';
import { registerMigrateCommand } from './migrate.ts';
import { findOperation } from './openapi-operations.ts';
import { addOperationCommand, addTwoVariantCommand } from './operation-commands.ts';
import { type Resource, RESOURCES } from './resources.ts';
import type { OperationCommand } from './run-operation.ts';
import { toCliError } from './errors.ts';
import { registerServeCommand } from './serve.ts';
import { registerSsoCommand } from './sso.ts';

const COMMANDS = [
  registerServeCommand,
  registerMigrateCommand,
  registerDemoCommand,
  registerImportCommand,
  registerClientCommand,
  registerKeysCommand,
  registerSsoCommand,
  registerResources,
  registerLoginCommand,
  registerBackupCommand,
  registerCompletionCommand,
];

/**
 * Runs one command. Prints an error as one line on standard error. Does not change the process, so that several
 * commands can run in one process; only `serve` handles signals and exits.
 * @param argv the arguments after `assay`
 * @param io streams to read and write; default: those of the process
 * @returns the exit code: 0 success, 1 failure, 2 usage error
 */
export function runCli(argv: readonly string[], io?: Streams): Promise<number> {
  return withStreams(io, async () => {
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
  const program = new Command('assay')
    .description('Run and use Assay, a self-hosted platform for security testing.')
    .version(readVersion(), '-v, --version', 'Print the version.')
    .helpOption('-h, --help', 'Show help for a command.')
    .helpCommand('help [command]', 'Show help for a command.')
    .showHelpAfterError(`Run "${programName()} --help" for a list of commands.`)
    .configureOutput({
      writeOut: (text) => streams().stdout.write(text),
      writeErr: (text) => streams().stderr.write(text),
      outputError: writeUsageError,
    })
    .exitOverride()
    // Options before a command belong to the program, options after it to the command.
    .enablePositionalOptions()
    .addHelpText('after', OVERVIEW);
  for (const register of COMMANDS) register(program, first);
  return program;
}

/**
 * Adds the commands of `RESOURCES`.
 * @param first the word after `assay`; only its commands are added, because adding all of them is slow
 */
function registerResources(program: Command, first?: string): void {
  const words = [...Object.keys(RESOURCES), ...program.commands.map((command) => command.name())];
  // Completion needs all commands.
  const isAlone = first !== undefined && first !== 'completion' && words.includes(first);
  for (const [name, resource] of Object.entries(RESOURCES))
    if (!isAlone || name === first) addResource(program, name, resource);
}

function addResource(
  parent: Command,
  name: string,
  { description, commands, subresources = {}, addLocalCommands }: Resource,
): void {
  const group =
    parent.commands.find((command) => command.name() === name) ?? addCommandGroup(parent, name, description);
  for (const [word, entry] of Object.entries(commands)) {
    const verb: OperationCommand = typeof entry === 'string' ? { endpoint: entry } : entry;
    const operation = findOperation(verb.endpoint);
    if (verb.local === undefined) addOperationCommand(group, word, verb, operation);
    else addTwoVariantCommand(group, verb.local, verb, operation);
  }
  addLocalCommands?.(group);
  for (const [word, subresource] of Object.entries(subresources)) addResource(group, word, subresource);
}

const OVERVIEW = `
Commands use the database in the data directory (--data, ASSAY_DATA, or ./data), or
PostgreSQL if ASSAY_DATABASE_URL is set, even while a server is running. Commands that
accept --server can use a server instead; "assay login URL" makes it the default.
Exit codes: 0 success, 1 failure, 2 usage error.

Get started:
  $ assay serve                         Start a server with demo data on http://127.0.0.1:8080.
  $ assay serve --no-demo --port 9000   Start an empty server on another port.
  $ assay user create --help            Show the options and examples of a command.`;

function readVersion(): string {
  const text = readFileSync(new URL('package.json', ROOT), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
