import { type Command, InvalidArgumentError, Option } from 'commander';
import { addCommand, commandPath, type LocalCommand, setInputNames } from './command.ts';
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
import {
  isDownload,
  runOperation,
  type OperationInput,
  type OperationOptions,
  type OperationCommand,
} from './run-operation.ts';
import { printableArgument } from './print.ts';
import { resolveServer } from './command-target.ts';
import { CliError } from './errors.ts';

const TARGET_OPTIONS = [
  new Option('--server <url>', 'Use this server (env: ASSAY_SERVER; set by "assay login").'),
  new Option('--token <token>', 'Use this token for the server (env: ASSAY_TOKEN).'),
];

/** Adds a command that calls an operation. Options and help come from the operation's description. */
export function addOperationCommand(
  group: Command,
  name: string,
  operationCommand: OperationCommand,
  operation: DescribedOperation,
): void {
  const pathParameters = operation.parameters.filter(({ in: location }) => location === 'path');
  const usage = [
    name,
    ...pathParameters.map(
      (parameter) => `<${operationCommand.acceptsEmail === true ? 'user' : toKebabCase(parameter.name)}>`,
    ),
    ...(operation.takesFiles ? ['<file...>'] : []),
  ].join(' ');
  const flags = operationCommand.body === undefined ? optionsOf(operation) : [];
  const command = addCommand(group, usage, {
    description: operationCommand.description ?? `${operation.summary}.`,
    ...helpNotes(operationCommand, operation, flags),
    examples:
      operationCommand.example === undefined
        ? helpExamples(group, name, operation, pathParameters, flags, operationCommand)
        : [[operationCommand.example]],
    inputs: operationCommand.acceptsEmail === true ? { id: 'user' } : {},
  });
  const ownFlags = addOperationOptions(command, operation, flags);
  setInputNames(command, inputNamesOf(ownFlags));
  const { bodyOption } = operationCommand;
  const extra =
    bodyOption && new Option(bodyOption.flags, bodyOption.description).choices(bodyOption.choices);
  if (extra !== undefined) command.addOption(extra);
  for (const option of Object.entries(operationCommand.localOptions ?? {})) command.option(...option);
  const { defaultQuery } = operationCommand;
  const includes = defaultQuery && new Option(defaultQuery.flags, defaultQuery.description);
  if (includes !== undefined) command.addOption(includes);
  // Their descriptions state the default of the API.
  for (const { name: parameter, option } of ownFlags)
    if (parameter in (defaultQuery?.query ?? {})) option.hideHelp();
  command.action(async (...actionArguments: unknown[]) => {
    const args = actionArguments.slice(0, -2) as (string | string[])[];
    const options = actionArguments.at(-2) as OperationOptions;
    const values = readOptionValues(command, ownFlags);
    requireOptions(command, ownFlags, values.body, options);
    const params = Object.fromEntries(
      pathParameters.map((parameter, index) => [parameter.name, String(args[index])]),
    );
    const files = operation.takesFiles ? (args[pathParameters.length] as string[]) : undefined;
    const value = extra && (command.getOptionValue(extra.attributeName()) as string | undefined);
    const body = {
      ...(value === undefined ? values.body : bodyOption?.apply(values.body, value)),
      ...operationCommand.body,
    };
    const isIncluded = includes === undefined || command.getOptionValue(includes.attributeName()) === true;
    const query = { ...(isIncluded ? {} : defaultQuery?.query), ...values.query };
    await runOperation(operation, operationCommand, { ...values, query, body, path: params, files }, options);
  });
}

/**
 * Adds a command that runs on the data directory, and calls an operation instead if a server is selected, or if an
 * option is given that only the operation has.
 * @param operationCommand `bodyFields` maps the command's own options to the body
 */
export function addTwoVariantCommand(
  group: Command,
  { usage, addOptions, run, ...help }: LocalCommand,
  operationCommand: OperationCommand,
  operation: DescribedOperation,
): void {
  const command = addCommand(group, usage, help);
  addOptions?.(command);
  const local = new Set(command.options.map((option) => option.attributeName()));
  // Each variant checks its own required options.
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) option.makeOptionMandatory(false);
  const args = new Set(command.registeredArguments.map((argument) => argument.name()));
  const flags = addOperationOptions(
    command,
    operation,
    optionsOf(operation).filter(({ name }) => !args.has(name)),
  );
  // The command's own option sets this property, so the help does not list the API's option for it.
  const filled = new Set(Object.values(operationCommand.bodyFields ?? {}).map(({ member }) => member));
  for (const { name, option } of flags) if (filled.has(name)) option.hideHelp();
  setInputNames(command, inputNamesOf(flags));
  const isGiven = (attribute: string) => command.getOptionValueSource(attribute) === 'cli';

  command.action(async (...actionArguments) => {
    const options = actionArguments.at(-2) as OperationOptions;
    const needsOperation = command.options
      .map((option) => option.attributeName())
      .some((attribute) => isGiven(attribute) && !local.has(attribute) && !TARGET_ATTRIBUTES.has(attribute));
    if (!needsOperation && resolveServer(options) === undefined) {
      for (const option of mandatory)
        if (!isGiven(option.attributeName())) requiredOptionError(command, option);
      return run.apply(command, actionArguments);
    }
    const request = readRequest(
      command,
      operationCommand,
      operation,
      flags,
      actionArguments.slice(0, -2) as string[],
    );
    requireOptions(command, flags, request.body, options);
    return runOperation(operation, operationCommand, request, options);
  });
}

/** @throws CliError if an option is given that only the variant for the data directory has */
function readRequest(
  command: Command,
  { bodyFields = {} }: OperationCommand,
  operation: DescribedOperation,
  flags: readonly OperationOption[],
  args: readonly (string | undefined)[],
): OperationInput {
  const values = readOptionValues(command, flags);
  const reserved = new Set([...RESERVED_OPTIONS, ...flags.map(({ option }) => option.attributeName())]);
  for (const option of command.options) {
    const attribute = option.attributeName();
    if (command.getOptionValueSource(attribute) !== 'cli') continue;
    const fill = bodyFields[attribute];
    if (fill !== undefined) {
      const value = command.getOptionValue(attribute) as unknown;
      values.body[fill.member] = fill.convert === undefined ? value : fill.convert(value);
    } else if (!reserved.has(attribute))
      throw new CliError(`${option.long ?? option.flags} cannot be used with --server.`, 2);
  }
  const parameters = operation.parameters.filter(({ in: location }) => location === 'path');
  const path: Record<string, string> = {};
  for (const [index, argument] of command.registeredArguments.entries()) {
    const value = args[index];
    if (value === undefined) continue;
    const parameter = parameters[index];
    if (parameter === undefined) values.body[argument.name()] = value;
    else path[parameter.name] = value;
  }
  return { ...values, path };
}

function requiredOptionError(command: Command, option: Option): never {
  return command.error(`error: required option '${option.flags}' not specified`);
}

/** These options select a variant, so neither variant owns them. */
const TARGET_ATTRIBUTES: ReadonlySet<string> = new Set(['server', 'token']);
const RESERVED_OPTIONS = ['data', 'json', 'jsonl', 'csv', 'limit', 'server', 'token', 'jsonBody', 'output'];

function addOperationOptions(
  command: Command,
  operation: DescribedOperation,
  flags: readonly OperationOption[],
): OperationOption[] {
  const hasOption = (long: string | undefined) => command.options.some((option) => option.long === long);
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
        'Read the request body from a JSON file ("-" for standard input); options override it.',
      ),
    );
  if (isList) {
    command.addOption(
      new Option('--jsonl', 'Output JSON Lines, one row per line.').conflicts(['json', 'csv']),
    );
    command.addOption(new Option('--csv', 'Output CSV.').conflicts('json'));
    if (!hasOption('--limit'))
      command.addOption(
        new Option('--limit <rows>', 'Output at most this many rows.').argParser((text) => {
          if (!/^[1-9]\d{0,14}$/.test(text))
            throw new InvalidArgumentError('The value must be an integer of at least 1.');
          return Number(text);
        }),
      );
  }
  if (isDownload(operation))
    command.addOption(new Option('--output <file>', 'Write to this file ("-" for standard output).'));
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
    if (required && !isThere && !option.negate) requiredOptionError(command, option);
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
  group: Command,
  name: string,
  operation: DescribedOperation,
  pathParameters: readonly Parameter[],
  flags: readonly OperationOption[],
  { acceptsEmail }: OperationCommand,
): [line: string, effect?: string][] {
  const start = `${commandPath(group)} ${name}`;
  const args = pathParameters.map((parameter) =>
    printableArgument(wordOf(acceptsEmail === true ? 'bob@example.com' : (exampleOf(parameter) ?? 42))),
  );
  if (operation.takesFiles) args.push('evidence.png');
  const required = flags.filter((flag) => flag.required && !flag.option.isBoolean() && !flag.option.negate);
  const options = required.map(({ name: member, option }) => {
    const { members } = schemaMembers(operation.body ?? {});
    return `${option.long} ${printableArgument(wordOf(firstExample(members[member])))}`;
  });
  const line = [start, ...args, ...options].join(' ');
  const oneLine = line.length <= WIDTH ? line : [start, ...args, '--json-body body.json'].join(' ');
  return rowSchema(operation) === undefined ? [[oneLine]] : [[oneLine], [`${oneLine} --csv > ${name}.csv`]];
}

const exampleOf = (parameter: Parameter) => parameter.example ?? parameter.schema.examples?.[0];

function firstExample(schema: Parameter['schema'] | undefined): unknown {
  if (schema === undefined) return 'text';
  const { examples, items, enum: allowed } = resolveSchema(schema);
  return examples?.[0] ?? allowed?.[0] ?? (items === undefined ? 'text' : firstExample(items));
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
