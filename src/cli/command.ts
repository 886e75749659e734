import { type Command, InvalidArgumentError, Option } from 'commander';
import { programName } from './streams.ts';

export interface CommonOptions {
  data?: string;
  json?: boolean;
}

/** Returns the option `--scopes`; scopes are separated by spaces or commas. */
export function scopesOption(description: string): Option {
  return new Option('--scopes <scopes>', description).argParser((text) =>
    text.split(/[\s,]+/).filter((scope) => scope !== ''),
  );
}

interface CommandHelp {
  description: string;
  /** Command lines, each with an optional sentence about its effect. */
  examples: readonly (readonly [line: string, effect?: string])[];
  notes?: string;
  /** Whether the command uses a database and so takes `--data`. Default: true. */
  data?: boolean;
  /** Whether the command takes `--json`. Default: true. */
  json?: boolean;
  /** Maps a property of the domain or the API to the option that sets it, where the names differ. */
  inputs?: Readonly<Record<string, string>>;
}

const inputNames = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Verbs that users confuse. The suggestion is the first one in the list that is a command of the group. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['revoke', 'ban', 'delete', 'remove', 'rm'],
  ['create', 'add', 'new'],
  ['update', 'edit', 'change', 'set'],
  ['get', 'show', 'view'],
  ['list', 'ls', 'all'],
];

/** A command that works on the data directory, and also on a server if a resource gives it an operation. */
export interface LocalCommand extends CommandHelp {
  /** Name and arguments in commander's notation: `create <uid>`. */
  usage: string;
  addOptions?: (command: Command) => void;
  run: Parameters<Command['action']>[0];
}

/** Prints a usage error of commander. The text of `showHelpAfterError` follows on the same line. */
export function writeUsageError(message: string, write: (text: string) => void): void {
  const text = message
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ');
  write(`assay: ${/[.?)]$/.test(text) ? text : `${text}.`} `);
}

/** Adds a synonym to an error, because commander only suggests commands of similar spelling. */
function suggestSynonym(message: string, commands: readonly Command[]): string {
  const [, word = ''] = /^error: unknown command '(.*?)'/.exec(message) ?? [];
  const names = commands.map((command) => command.name());
  const suggestion = SYNONYMS.find((group) => group.includes(word))?.find((name) => names.includes(name));
  return suggestion === undefined
    ? message
    : `error: unknown command '${word}' (Did you mean ${suggestion}?)`;
}

/** Registers options by the properties that they set, so that error messages name the option. */
export function setInputNames(command: Command, inputs: Readonly<Record<string, string>>): void {
  inputNames.set(command, { ...inputs, ...inputNames.get(command) });
}

/** Returns the option or argument, as the user types it, that sets a property; `undefined` if there is none. */
export function displayNameOf(command: Command | undefined, input: string): string | undefined {
  if (command === undefined) return undefined;
  const name = inputNames.get(command)?.[input] ?? input;
  const argument = command.registeredArguments.find((candidate) => candidate.name() === name);
  return findOption(command, input)?.long ?? argument?.name().toUpperCase();
}

export function findOption(command: Command | undefined, input: string): Option | undefined {
  if (command === undefined) return undefined;
  const name = inputNames.get(command)?.[input] ?? input;
  return command.options.find((candidate) => candidate.attributeName() === name);
}

/**
 * Adds a command with the common options, and with examples at the end of its help.
 * @param usage name and arguments in commander's notation: `create <uid>`
 */
export function addCommand(
  parent: Command,
  usage: string,
  { description, examples, notes, data = true, json = true, inputs = {} }: CommandHelp,
): Command {
  const command = parent.command(usage).description(description);
  const path = commandPath(command);
  inputNames.set(command, inputs);
  command.showHelpAfterError(`Run "${runnable(path)} --help" for usage.`);
  if (data)
    command.addOption(
      new Option('--data <folder>', 'Use this data directory (env: ASSAY_DATA; default: ./data).').argParser(
        parseNonEmpty,
      ),
    );
  if (json) command.option('--json', 'Output JSON.');
  const lines = examples.flatMap(([line, effect]) => [
    `  $ ${line}`,
    ...(effect === undefined || effect === '' ? [] : [`    ${effect}`]),
  ]);
  command.addHelpText('after', () =>
    ['', ...(notes === undefined ? [] : [notes]), 'Examples:', ...lines].join('\n'),
  );
  return command;
}

/** Adds a command that only has subcommands. */
export function addCommandGroup(parent: Command, name: string, description: string): Command {
  const group = parent
    .command(name)
    .description(description)
    .helpCommand('help [command]', 'Show help for a command.')
    .configureOutput({
      outputError: (message, write) => writeUsageError(suggestSynonym(message, group.commands), write),
    });
  return group.showHelpAfterError(`Run "${runnable(commandPath(group))} --help" for a list of commands.`);
}

/** Returns a path of `commandPath` as the user runs it. */
const runnable = (path: string): string => path.replace(/^assay\b/, programName());

/** Returns the command with its parents, as its help names it. */
export function commandPath(command: Command): string {
  const parent = command.parent;
  return parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`;
}

function parseNonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('The value must not be empty.');
  return value;
}
