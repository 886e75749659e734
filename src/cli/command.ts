import { Command, InvalidArgumentError, Option } from 'commander';

/** What every command takes. */
export interface CommonOptions {
  data?: string;
  json?: boolean;
}

/** The option that names scopes, separated by spaces or commas. */
export function scopesOption(description: string): Option {
  return new Option('--scopes <scopes>', description).argParser((text) =>
    text.split(/[\s,]+/).filter((scope) => scope !== ''),
  );
}

interface CommandHelp {
  description: string;
  /** Each a line to type and what it does. */
  examples: readonly (readonly [line: string, effect?: string])[];
  /** What a reader of the help should know beside that. */
  notes?: string;
  /** Whether it works on a database; it does unless told. */
  data?: boolean;
  /** Whether it prints something that `--json` can change; it does unless told. */
  json?: boolean;
  /** Inputs of the rules that it calls, and the options that fill them, where those have another name. */
  inputs?: Readonly<Record<string, string>>;
}

const inputNames = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Words that people try for one another. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['revoke', 'delete', 'remove', 'rm'],
  ['create', 'add', 'new'],
  ['update', 'edit', 'change', 'set'],
  ['get', 'show', 'view'],
  ['list', 'ls', 'all'],
];

/** Its types do not tell of it. */
const { unknownCommand: commanderUnknown } = Command.prototype as unknown as {
  unknownCommand: (this: Command) => void;
};

/** A command that may leave its work to another way of doing it. */
export class AssayCommand extends Command {
  /** @returns what it waits for when the other way takes over; `undefined` when it does not */
  runRemotely: ((...given: unknown[]) => Promise<void> | undefined) | undefined;

  override createCommand(name?: string): AssayCommand {
    return new AssayCommand(name);
  }

  /** Commander calls this for a word that is no command of a family: its own hint knows how words are written alone. */
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

/** Says which options fill the inputs of a rule or of an operation, beside those that are known already. */
export function setInputNames(command: Command, inputs: Readonly<Record<string, string>>): void {
  inputNames.set(command, { ...inputs, ...inputNames.get(command) });
}

/** @returns the option or argument, as the user types it, that fills an input of a rule; `undefined` where none does */
export function displayNameOf(command: Command | undefined, input: string): string | undefined {
  if (command === undefined) return undefined;
  const name = inputNames.get(command)?.[input] ?? input;
  const argument = command.registeredArguments.find((candidate) => candidate.name() === name);
  return findOption(command, input)?.long ?? argument?.name().toUpperCase();
}

/** @returns the option that fills an input of a rule */
export function findOption(command: Command | undefined, input: string): Option | undefined {
  if (command === undefined) return undefined;
  const name = inputNames.get(command)?.[input] ?? input;
  return command.options.find((candidate) => candidate.attributeName() === name);
}

/**
 * Adds a command with the options that all share, and examples at the end of its help.
 * @param usage its name and arguments, as commander writes them: `create <uid>`
 */
export function addCommand(
  parent: Command,
  usage: string,
  { description, examples, notes, data = true, json = true, inputs = {} }: CommandHelp,
): Command {
  const command = parent.command(usage).description(description);
  const path = commandPath(command);
  inputNames.set(command, inputs);
  command.showHelpAfterError(`Run "${path} --help" to see what it takes.`);
  if (data)
    command.addOption(
      new Option('--data <folder>', 'the data folder (ASSAY_DATA; "data" unless told)').argParser(
        parseNonEmpty,
      ),
    );
  if (json) command.option('--json', 'print JSON, on one line');
  const lines = examples.flatMap(([line, effect]) => [
    `  $ ${line}`,
    ...(effect === undefined || effect === '' ? [] : [`    ${effect}`]),
  ]);
  command.addHelpText('after', () =>
    ['', ...(notes === undefined ? [] : [notes]), 'Examples:', ...lines].join('\n'),
  );
  return command;
}

/** Adds a command that only holds others. */
export function addCommandGroup(parent: Command, name: string, description: string): Command {
  const family = parent
    .command(name)
    .description(description)
    .helpCommand('help [command]', 'explain a command');
  return family.showHelpAfterError(`Run "${commandPath(family)} --help" to see the commands.`);
}

function commandPath(command: Command): string {
  const parent = command.parent;
  return parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`;
}

function parseNonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}
