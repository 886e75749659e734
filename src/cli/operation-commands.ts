import { type Command, InvalidArgumentError, Option } from 'commander';
import { addCommand, type AssayCommand, setInputNames } from './command.ts';
import {
  type DescribedOperation,
  schemaMembers,
  type Parameter,
  resolveSchema,
  rowSchema,
} from './openapi-operations.ts';
import {
  withOptionNames,
  type OperationOption,
  optionsOf,
  toKebabCase,
  readOptionValues,
} from './operation-options.ts';
import { isDownload, runOperation, type OperationOptions, type OperationCommand } from './run-operation.ts';
import { printableArgument } from './print.ts';
import { resolveServer } from './command-target.ts';
import { CliError } from './errors.ts';

const TARGET_OPTIONS = [
  new Option('--server <url>', 'use this server (env: ASSAY_SERVER; set by "assay login")'),
  new Option('--token <token>', 'token for the server (env: ASSAY_TOKEN)'),
];

/** Adds a command that calls an operation. Options and help come from the operation's description. */
export function addOperationCommand(
  family: Command,
  name: string,
  verb: OperationCommand,
  operation: DescribedOperation,
): void {
  const path = operation.parameters.filter(({ in: location }) => location === 'path');
  const usage = [
    name,
    ...path.map((parameter) => `<${verb.acceptsEmail === true ? 'user' : toKebabCase(parameter.name)}>`),
    ...(operation.takesFiles ? ['<file...>'] : []),
  ].join(' ');
  const flags = verb.body === undefined ? optionsOf(operation) : [];
  const command = addCommand(family, usage, {
    description: verb.description ?? operation.summary,
    ...helpNotes(verb, operation, flags),
    examples:
      verb.example === undefined
        ? helpExamples(family, name, operation, path, flags, verb)
        : [[verb.example]],
    inputs: verb.acceptsEmail === true ? { id: 'user' } : {},
  });
  const own = addOperationOptions(command, operation, flags);
  setInputNames(command, inputNamesOf(own));
  command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2) as (string | string[])[];
    const options = given.at(-2) as OperationOptions;
    const values = readOptionValues(command, own);
    requireOptions(command, own, values.body, options);
    const params = Object.fromEntries(path.map((parameter, index) => [parameter.name, String(args[index])]));
    const files = operation.takesFiles ? (args[path.length] as string[]) : undefined;
    const body = { ...values.body, ...verb.body };
    await runOperation(operation, verb, { ...values, body, path: params, files }, options);
  });
}

/**
 * Makes a command of the data directory call an API operation instead if a server is selected, or if an option is given
 * that only the operation has. `verb.bodyFields` maps the command's own options to the body.
 */
export function addRemoteVariant(
  command: AssayCommand,
  verb: OperationCommand,
  operation: DescribedOperation,
): void {
  const before = new Set(command.options.map((option) => option.attributeName()));
  const args = new Set(command.registeredArguments.map((argument) => argument.name()));
  const flags = addOperationOptions(
    command,
    operation,
    optionsOf(operation).filter(({ name }) => !args.has(name)),
  );
  const known = new Set([...RESERVED_OPTIONS, ...flags.map(({ option }) => option.attributeName())]);
  const fills = verb.bodyFields ?? {};
  // The command's own option sets this property, so the help does not list the API's option for it.
  const filled = new Set(Object.values(fills).map(({ member }) => member));
  for (const { name, option } of flags) if (filled.has(name)) option.hideHelp();
  const path = operation.parameters.filter(({ in: location }) => location === 'path');
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) option.mandatory = false;
  setInputNames(command, inputNamesOf(flags));
  const isGiven = (attribute: string) => command.getOptionValueSource(attribute) === 'cli';

  command.runRemotely = (...given) => {
    const options = given.at(-2) as OperationOptions;
    const isTwin = command.options.some(
      (option) =>
        !before.has(option.attributeName()) &&
        !REMOTE_ONLY_OPTIONS.has(option.attributeName()) &&
        isGiven(option.attributeName()),
    );
    if (!isTwin && resolveServer(options) === undefined) {
      for (const option of mandatory)
        if (!isGiven(option.attributeName()))
          command.error(`error: required option '${option.flags}' not specified`);
      return undefined;
    }
    const typed = given.slice(0, -2) as string[];
    const values = readOptionValues(command, flags);
    for (const [attribute, fill] of Object.entries(fills)) {
      if (!isGiven(attribute)) continue;
      const value = command.getOptionValue(attribute) as unknown;
      values.body[fill.member] = fill.convert === undefined ? value : fill.convert(value);
    }
    const foreign = command.options.find(
      (option) =>
        isGiven(option.attributeName()) &&
        !known.has(option.attributeName()) &&
        !(option.attributeName() in fills),
    );
    if (foreign !== undefined)
      throw new CliError(`${foreign.long ?? foreign.flags} cannot be used with --server.`, 2);
    const params: Record<string, string> = {};
    for (const [index, argument] of command.registeredArguments.entries()) {
      const value = typed[index];
      if (value === undefined) continue;
      const parameter = path[index];
      if (parameter === undefined) values.body[argument.name()] = value;
      else params[parameter.name] = value;
    }
    requireOptions(command, flags, values.body, options);
    return runOperation(operation, verb, { ...values, path: params, files: undefined }, options);
  };
}

const REMOTE_ONLY_OPTIONS: ReadonlySet<string> = new Set(['server', 'token']);
const RESERVED_OPTIONS = ['data', 'json', 'jsonl', 'csv', 'limit', 'server', 'token', 'jsonBody', 'output'];

function addOperationOptions(
  command: Command,
  operation: DescribedOperation,
  flags: readonly OperationOption[],
): OperationOption[] {
  const has = (long: string | undefined) => command.options.some((option) => option.long === long);
  const isList = rowSchema(operation) !== undefined;
  const { members } = schemaMembers(operation.body ?? {});
  const added = flags.map((flag) => {
    const existing = command.options.find((option) => option.long === flag.option.long);
    if (existing !== undefined) return { ...flag, option: existing };
    command.addOption(flag.option);
    return flag;
  });
  if (Object.keys(members).length > 0 && flags.length > 0)
    command.addOption(
      new Option(
        '--json-body <file>',
        'read the request body from a JSON file ("-" for standard input); options override it',
      ),
    );
  if (isList) {
    command.addOption(
      new Option('--jsonl', 'output JSON Lines, one row per line').conflicts(['json', 'csv']),
    );
    command.addOption(new Option('--csv', 'output CSV').conflicts('json'));
    if (!has('--limit'))
      command.addOption(
        new Option('--limit <rows>', 'maximum number of rows').argParser((text) => {
          if (!/^[1-9]\d{0,14}$/.test(text))
            throw new InvalidArgumentError('The value must be an integer of at least 1.');
          return Number(text);
        }),
      );
  }
  if (isDownload(operation))
    command.addOption(new Option('--output <file>', 'output file ("-" for standard output)'));
  addTargetOptions(command);
  return added;
}

/** Adds `--server` and `--token`. */
export function addTargetOptions(command: Command): void {
  for (const option of TARGET_OPTIONS) command.addOption(new Option(option.flags, option.description));
}

/** Maps the properties of a request to the options that set them. */
function inputNamesOf(flags: readonly OperationOption[]): Record<string, string> {
  return Object.fromEntries(flags.map(({ name, option }) => [name, option.attributeName()]));
}

function requireOptions(
  command: Command,
  flags: readonly OperationOption[],
  body: Readonly<Record<string, unknown>>,
  { jsonBody }: OperationOptions,
): void {
  if (jsonBody !== undefined) return;
  for (const { location, name, required, option } of flags) {
    const isThere =
      location === 'body' ? name in body : command.getOptionValueSource(option.attributeName()) === 'cli';
    if (required && !isThere && !option.negate)
      command.error(`error: required option '${option.flags}' not specified`);
  }
}

const WIDTH = 110;
const USER_ARGUMENT_NOTE = 'USER is an email address, id or uid.';

function helpNotes(
  { body, acceptsEmail }: OperationCommand,
  { description }: DescribedOperation,
  flags: readonly OperationOption[],
): { notes?: string } {
  const notes = [
    ...(acceptsEmail === true ? [USER_ARGUMENT_NOTE] : []),
    ...(body === undefined ? [wrap(withOptionNames(description, flags))] : []),
  ];
  return notes.length === 0 ? {} : { notes: notes.join('\n') };
}

function wrap(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(new RegExp(`(.{1,${WIDTH}})(\\s+|$)`, 'g'), '$1\n').trimEnd())
    .join('\n');
}

function helpExamples(
  family: Command,
  name: string,
  operation: DescribedOperation,
  path: readonly Parameter[],
  flags: readonly OperationOption[],
  { acceptsEmail }: OperationCommand,
): [line: string, effect?: string][] {
  const commandPath = pathOf(family);
  const args = path.map((parameter) =>
    printableArgument(wordOf(acceptsEmail === true ? 'bob@example.com' : (exampleOf(parameter) ?? 42))),
  );
  if (operation.takesFiles) args.push('evidence.png');
  const required = flags.filter((flag) => flag.required && !flag.option.isBoolean() && !flag.option.negate);
  const options = required.map(({ name: member, option }) => {
    const { members } = schemaMembers(operation.body ?? {});
    return `${option.long} ${printableArgument(wordOf(firstExample(members[member])))}`;
  });
  const line = [commandPath, name, ...args, ...options].join(' ');
  const short = line.length <= WIDTH ? line : [commandPath, name, ...args, '--json-body body.json'].join(' ');
  return rowSchema(operation) === undefined ? [[short]] : [[short], [`${short} --csv > ${name}.csv`]];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

const exampleOf = (parameter: Parameter) => parameter.example ?? parameter.schema.examples?.[0];

function firstExample(schema: Parameter['schema'] | undefined): unknown {
  if (schema === undefined) return 'text';
  const { examples, items, enum: allowed } = resolveSchema(schema);
  return examples?.[0] ?? allowed?.[0] ?? (items === undefined ? 'text' : firstExample(items));
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
