import { type Command, InvalidArgumentError, Option } from 'commander';
import { addCommand, type AssayCommand, nameInputs } from './command.ts';
import { type DescribedOperation, membersOf, type Parameter, resolved, rowSchemaOf } from './description.ts';
import { asTyped, type Flag, flagsOf, kebab, valuesOf } from './operation-flags.ts';
import { isDownload, runOperation, type RunFlags, type Verb } from './operation-run.ts';
import { printableArgument } from './output.ts';
import { serverOf } from './place.ts';
import { Refusal } from './refusal.ts';

const PLACE = [
  new Option('--server <url>', 'work on this server instead (ASSAY_SERVER, or "assay login")'),
  new Option('--token <token>', 'who one is there (ASSAY_TOKEN)'),
];

/** Adds a command that calls an operation. Its flags and its help are made from what the operation says of itself. */
export function addOperation(family: Command, name: string, verb: Verb, operation: DescribedOperation): void {
  const path = operation.parameters.filter(({ in: place }) => place === 'path');
  const usage = [
    name,
    ...path.map((parameter) => `<${verb.ofPerson === true ? 'user' : kebab(parameter.name)}>`),
    ...(operation.takesFiles ? ['<file...>'] : []),
  ].join(' ');
  const flags = verb.body === undefined ? flagsOf(operation) : [];
  const command = addCommand(family, usage, {
    description: verb.description ?? operation.summary,
    ...notesOf(verb, operation, flags),
    examples:
      verb.example === undefined ? examplesOf(family, name, operation, path, flags, verb) : [[verb.example]],
    inputs: verb.ofPerson === true ? { id: 'user' } : {},
  });
  const own = addFlags(command, operation, flags);
  nameInputs(command, inputsOf(own));
  command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2) as (string | string[])[];
    const options = given.at(-2) as RunFlags;
    const values = valuesOf(command, own);
    requireAll(command, own, values.body, options);
    const params = Object.fromEntries(path.map((parameter, index) => [parameter.name, String(args[index])]));
    const files = operation.takesFiles ? (args[path.length] as string[]) : undefined;
    const body = { ...values.body, ...verb.body };
    await runOperation(operation, verb, { ...values, body, path: params, files }, options);
  });
}

/**
 * Lets a command that works on the data folder by its own rules call an operation where it is sent to a server, or is given
 * an option that the operation alone has. Its own options go where the verb says.
 */
export function addTwin(command: AssayCommand, verb: Verb, operation: DescribedOperation): void {
  const before = new Set(command.options.map((option) => option.attributeName()));
  const args = new Set(command.registeredArguments.map((argument) => argument.name()));
  const flags = addFlags(
    command,
    operation,
    flagsOf(operation).filter(({ name }) => !args.has(name)),
  );
  const known = new Set([...COMMON, ...flags.map(({ option }) => option.attributeName())]);
  const fills = verb.fills ?? {};
  // What an option of the command fills needs no second one in its help.
  const filled = new Set(Object.values(fills).map(({ member }) => member));
  for (const { name, option } of flags) if (filled.has(name)) option.hideHelp();
  const path = operation.parameters.filter(({ in: place }) => place === 'path');
  const mandatory = command.options.filter((option) => option.mandatory);
  for (const option of mandatory) option.mandatory = false;
  nameInputs(command, inputsOf(flags));
  const isGiven = (attribute: string) => command.getOptionValueSource(attribute) === 'cli';

  command.instead = (...given) => {
    const options = given.at(-2) as RunFlags;
    const isTwin = command.options.some(
      (option) =>
        !before.has(option.attributeName()) &&
        !OF_PLACE.has(option.attributeName()) &&
        isGiven(option.attributeName()),
    );
    if (!isTwin && serverOf(options) === undefined) {
      for (const option of mandatory)
        if (!isGiven(option.attributeName()))
          command.error(`error: required option '${option.flags}' not specified`);
      return undefined;
    }
    const typed = given.slice(0, -2) as string[];
    const values = valuesOf(command, flags);
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
      throw new Refusal(`${foreign.long ?? foreign.flags} is for the data folder only.`, 2);
    const params: Record<string, string> = {};
    for (const [index, argument] of command.registeredArguments.entries()) {
      const value = typed[index];
      if (value === undefined) continue;
      const parameter = path[index];
      if (parameter === undefined) values.body[argument.name()] = value;
      else params[parameter.name] = value;
    }
    requireAll(command, flags, values.body, options);
    return runOperation(operation, verb, { ...values, path: params, files: undefined }, options);
  };
}

/** Options of the place: they say where, and not what. */
const OF_PLACE: ReadonlySet<string> = new Set(['server', 'token']);
const COMMON = ['data', 'json', 'jsonl', 'csv', 'limit', 'server', 'token', 'jsonBody', 'output'];

function addFlags(command: Command, operation: DescribedOperation, flags: readonly Flag[]): Flag[] {
  const has = (long: string | undefined) => command.options.some((option) => option.long === long);
  const isList = rowSchemaOf(operation) !== undefined;
  const { members } = membersOf(operation.body ?? {});
  const added = flags.map((flag) => {
    const existing = command.options.find((option) => option.long === flag.option.long);
    if (existing !== undefined) return { ...flag, option: existing };
    command.addOption(flag.option);
    return flag;
  });
  if (Object.keys(members).length > 0 && flags.length > 0)
    command.addOption(
      new Option('--json-body <file>', 'the whole body as JSON, of a file or "-"; options come on top of it'),
    );
  if (isList) {
    command.addOption(new Option('--jsonl', 'print JSON, a line a row').conflicts(['json', 'csv']));
    command.addOption(new Option('--csv', 'print CSV').conflicts('json'));
    if (!has('--limit'))
      command.addOption(
        new Option('--limit <rows>', 'stop after so many').argParser((text) => {
          if (!/^[1-9]\d{0,14}$/.test(text))
            throw new InvalidArgumentError('It must be a whole number from 1.');
          return Number(text);
        }),
      );
  }
  if (isDownload(operation))
    command.addOption(new Option('--output <file>', 'where to write it; "-" is standard output'));
  addPlace(command);
  return added;
}

/** Adds the options that name a server. */
export function addPlace(command: Command): void {
  for (const option of PLACE) command.addOption(new Option(option.flags, option.description));
}

/** What faults call the parts of a request, and the options that fill them. */
function inputsOf(flags: readonly Flag[]): Record<string, string> {
  return Object.fromEntries(flags.map(({ name, option }) => [name, option.attributeName()]));
}

function requireAll(
  command: Command,
  flags: readonly Flag[],
  body: Readonly<Record<string, unknown>>,
  { jsonBody }: RunFlags,
): void {
  if (jsonBody !== undefined) return;
  for (const { place, name, required, option } of flags) {
    const isThere =
      place === 'body' ? name in body : command.getOptionValueSource(option.attributeName()) === 'cli';
    if (required && !isThere && !option.negate)
      command.error(`error: required option '${option.flags}' not specified`);
  }
}

const WIDTH = 110;
const OF_PERSON = 'USER is an e-mail address, an id or a uid.';

function notesOf(
  { body, ofPerson }: Verb,
  { description }: DescribedOperation,
  flags: readonly Flag[],
): { notes?: string } {
  const notes = [
    ...(ofPerson === true ? [OF_PERSON] : []),
    ...(body === undefined ? [wrap(asTyped(description, flags))] : []),
  ];
  return notes.length === 0 ? {} : { notes: notes.join('\n') };
}

function wrap(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(new RegExp(`(.{1,${WIDTH}})(\\s+|$)`, 'g'), '$1\n').trimEnd())
    .join('\n');
}

function examplesOf(
  family: Command,
  name: string,
  operation: DescribedOperation,
  path: readonly Parameter[],
  flags: readonly Flag[],
  { ofPerson }: Verb,
): [line: string, effect?: string][] {
  const noun = pathOf(family);
  const args = path.map((parameter) =>
    printableArgument(wordOf(ofPerson === true ? 'bob@example.com' : (exampleOf(parameter) ?? 42))),
  );
  if (operation.takesFiles) args.push('evidence.png');
  const required = flags.filter((flag) => flag.required && !flag.option.isBoolean() && !flag.option.negate);
  const options = required.map(({ name: member, option }) => {
    const { members } = membersOf(operation.body ?? {});
    return `${option.long} ${printableArgument(wordOf(firstExample(members[member])))}`;
  });
  const line = [noun, name, ...args, ...options].join(' ');
  const short = line.length <= WIDTH ? line : [noun, name, ...args, '--json-body body.json'].join(' ');
  return rowSchemaOf(operation) === undefined ? [[short]] : [[short], [`${short} --csv > ${name}.csv`]];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

const exampleOf = (parameter: Parameter) => parameter.example ?? parameter.schema.examples?.[0];

function firstExample(schema: Parameter['schema'] | undefined): unknown {
  if (schema === undefined) return 'text';
  const { examples, items, enum: allowed } = resolved(schema);
  return examples?.[0] ?? allowed?.[0] ?? (items === undefined ? 'text' : firstExample(items));
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
