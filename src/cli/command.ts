import { Command, InvalidArgumentError, Option } from 'commander';

/** Options of every command. */
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
  /** Lines to type, each with its effect. */
  examples: readonly (readonly [line: string, effect?: string])[];
  /** Further text for the help. */
  notes?: string;
  /** Whether the command uses a database and so takes `--data`. Default: true. */
  data?: boolean;
  /** Whether the command takes `--json`. Default: true. */
  json?: boolean;
  /** Maps a property of the domain or the API to the option that sets it, where the names differ. */
  inputs?: Readonly<Record<string, string>>;
}

const inputNames = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Verbs that users confuse; the first one that the command group has is suggested. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['revoke', 'delete', 'remove', 'rm'],
  ['create', 'add', 'new'],
  ['update', 'edit', 'change', 'set'],
  ['get', 'show', 'view'],
  ['list', 'ls', 'all'],
];

/** Commander's types do not declare this method. */
const { unknownCommand: commanderUnknown } = Command.prototype as unknown as {
  unknownCommand: (this: Command) => void;
};

/** A command that can call the API of a server instead of running its own action. */
export class AssayCommand extends Command {
  /** Calls the API and returns its promise, or returns `undefined` to run the command's own action. */
  runRemotely: ((...given: unknown[]) => Promise<void> | undefined) | undefined;

  override createCommand(name?: string): AssayCommand {
    return new AssayCommand(name);
  }

  /** Suggests a synonym where commander would only suggest a similar spelling. */
  unknownCommand(): void {
    const word = this.args[0] ?? '';
    const names = this.createHelp()
      .visibleCommands(this)
      .map((command) => command.name());
    const meant = SYNONYMS.find((group) => group.includes(word))?.find((name) => names.includes(name));
    if (meant === undefined) return commanderUnknown.call(this);
    this.error(`error: unknown command '${word}' (Did you mean ${meant}?)`, {
      code: 'commander.unknownCommand',
    });
  }

  override action(own: (...given: never[]) => void | Promise<void>): this {
    return super.action((...given: unknown[]) => this.runRemotely?.(...given) ?? own(...(given as never[])));
  }
}

/** Adds to the map from properties to options that error messages use. */
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

/** Returns the option that sets a property. */
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
  command.showHelpAfterError(`Run "${path} --help" for usage.`);
  if (data)
    command.addOption(
      new Option('--data <folder>', 'data directory (env: ASSAY_DATA; default: ./data)').argParser(
        parseNonEmpty,
      ),
    );
  if (json) command.option('--json', 'output JSON');
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
  const family = parent
    .command(name)
    .description(description)
    .helpCommand('help [command]', 'show help for a command');
  return family.showHelpAfterError(`Run "${commandPath(family)} --help" for a list of commands.`);
}

function commandPath(command: Command): string {
  const parent = command.parent;
  return parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`;
}

function parseNonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('The value must not be empty.');
  return value;
}
