import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  alternativesOf,
  type DescribedOperation,
  schemaMembers,
  type Parameter,
  type OpenApiSchema,
} from './openapi-operations.ts';

/** An option that sets a parameter or a body property of a request. */
export interface OperationOption {
  location: 'query' | 'body' | 'header';
  /** Name in the request: `filter[status_id][]`. */
  name: string;
  option: Option;
  /** Whether the request requires it. */
  required: boolean;
}

/** Parameters that the command line sets itself, such as those of paging. */
const HANDLED_PARAMETERS = /^(page(\[|$)|perPage$|per_page$|Idempotency-Key$|If-None-Match$|Range$)/;

/** Returns the options of an operation, from its parameters and its body. */
export function optionsOf(operation: DescribedOperation): OperationOption[] {
  const { parameters, body, method } = operation;
  const { members, required } = schemaMembers(body ?? {});
  const bodyOptions = Object.entries(members).map(([name, schema]): OperationOption => ({
    location: 'body',
    name,
    required: required.has(name),
    option: optionOf(name, schema, required.has(name), `Set the field ${name}.`),
  }));
  const parameterOptions = parameters
    .filter(
      (parameter) =>
        parameter.in !== 'path' && !HANDLED_PARAMETERS.test(parameter.name) && !(parameter.name in members),
    )
    .map((parameter): OperationOption => {
      const { name, schema, required: must = false, description } = parameter;
      const word = optionName(parameter);
      return {
        location: parameter.in === 'header' ? 'header' : 'query',
        name,
        required: must,
        option: optionOf(
          word,
          { description, ...schema } as OpenApiSchema,
          must,
          `Set the parameter ${word}.`,
        ),
      };
    });
  const flags = [...bodyOptions, ...parameterOptions];
  for (const { option } of flags) option.description = withOptionNames(option.description, flags);
  return flags.flatMap((flag) => [flag, ...negatedOptionOf(flag, method, members)]);
}

/** Replaces the names of properties in a description by the names of their options. */
export function withOptionNames(text: string, flags: readonly OperationOption[]): string {
  return text.replace(/`([A-Za-z_]+)`/g, (match, word: string) => {
    const longName = flags.find(({ name, option }) => name === word && !option.negate)?.option.long;
    return typeof longName === 'string' ? `\`${longName}\`` : match;
  });
}

/** `filter[status_id][]` becomes `status_id`. */
function optionName({ name }: Parameter): string {
  return name.replace(/^filter\[(.*?)\]/, '$1').replace(/\[\]$/, '');
}

export const toKebabCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** An example value of each option that takes JSON. */
const exampleOf = new WeakMap<Option, string>();

/** Returns an example for an option that takes JSON, to append to an error message; empty for other options. */
export function exampleValueOf(option: Option): string {
  const example = exampleOf.get(option);
  return example === undefined ? '' : `; for example '${example}'`;
}

type Kind = 'integer' | 'number' | 'string' | 'boolean' | 'json';
const WORDS: Readonly<Record<Kind, string>> = {
  integer: 'number',
  number: 'number',
  string: 'text',
  boolean: '',
  json: 'json',
};

/** @param filler describes an option that the API does not describe */
function optionOf(name: string, schema: OpenApiSchema, required: boolean, filler: string): Option {
  const { kind, isList, allowed } = readSchema(schema);
  const word = schema.description?.startsWith('ISO 8601') === true ? 'time' : WORDS[kind];
  const flags = `--${toKebabCase(name)}${kind === 'boolean' ? '' : ` <${word}>`}`;
  const notes = [isList ? 'repeatable' : '', required ? 'required' : ''].filter((note) => note !== '');
  const described = schema.description ?? firstAlternative(schema)?.description ?? '';
  const description = described === '' ? filler : described;
  const text = [description.replace(/\s+/g, ' '), ...notes.map((note) => `(${note})`)].join(' ');
  const option = new Option(flags, text);
  const [example] = (firstAlternative(schema) ?? schema).examples ?? [];
  if (kind === 'json' && example !== undefined) exampleOf.set(option, JSON.stringify(example));
  if (allowed !== undefined && allowed.length <= 20) option.choices(allowed);
  if (kind === 'boolean') return option;
  return option.argParser((argument: string, before: unknown) => {
    const value = parseValue(argument, kind, allowed);
    // A value is one item, or an array of items as in the API.
    return isList ? [...((before as unknown[] | undefined) ?? []), ...[value].flat()] : value;
  });
}

const firstAlternative = (schema: OpenApiSchema) => alternativesOf(schema)[0];

function readSchema(schema: OpenApiSchema): { kind: Kind; isList: boolean; allowed: string[] | undefined } {
  const alternatives = alternativesOf(schema).filter(({ type }) => type !== 'null');
  const array = alternatives.find(({ type }) => type === 'array');
  const itemSchemas = array === undefined ? alternatives : alternativesOf(array.items ?? {});
  const scalar = itemSchemas.find(({ type }) =>
    ['integer', 'number', 'string', 'boolean'].includes(String(type)),
  );
  const kind = (scalar?.type as Kind | undefined) ?? 'json';
  const words = scalar?.enum?.filter((value) => typeof value === 'string');
  return { kind, isList: array !== undefined, allowed: words?.length === 0 ? undefined : words };
}

function parseValue(text: string, kind: Kind, allowed: readonly string[] | undefined): unknown {
  if (allowed !== undefined) return parseChoiceOption(text, allowed);
  if (kind === 'integer' && !/^-?\d{1,15}$/.test(text))
    throw new InvalidArgumentError('The value must be an integer.');
  if (kind === 'number' && !(text.trim() !== '' && Number.isFinite(Number(text))))
    throw new InvalidArgumentError('The value must be a number.');
  if (kind === 'integer' || kind === 'number') return Number(text);
  return kind === 'json' ? parseJson(text) : text;
}

/** Returns the choice that matches, ignoring case. */
export function parseChoiceOption(text: string, allowed: readonly string[]): string {
  const choice =
    allowed.find((candidate) => candidate === text) ??
    allowed.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (choice === undefined) throw new InvalidArgumentError(`Allowed choices are ${allowed.join(', ')}.`);
  return choice;
}

/** @throws InvalidArgumentError if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('The value must be JSON.');
  }
}

/** Returns `--no-x`, which sends `false` for a boolean, and `null` for a nullable property of an update. */
function negatedOptionOf(
  flag: OperationOption,
  method: string,
  members: Readonly<Record<string, OpenApiSchema>>,
): OperationOption[] {
  const { option, location, name } = flag;
  const longName = option.long ?? '';
  if (option.isBoolean())
    return [{ ...flag, option: new Option(longName.replace('--', '--no-'), `Set ${longName} to false.`) }];
  const nullable = alternativesOf(members[name] ?? {}).some(({ type }) => type === 'null');
  return location === 'body' && nullable && (method === 'PATCH' || method === 'PUT')
    ? [{ ...flag, option: new Option(longName.replace('--', '--no-'), `Clear ${longName}.`) }]
    : [];
}

/** Returns the values given on the command line, by location and name in the request. */
export function readOptionValues(
  command: Command,
  flags: readonly OperationOption[],
): Record<OperationOption['location'], Record<string, unknown>> {
  const values = { query: {}, body: {}, header: {} } as Record<
    OperationOption['location'],
    Record<string, unknown>
  >;
  for (const { location, name, option } of flags) {
    const attribute = option.attributeName();
    if (command.getOptionValueSource(attribute) !== 'cli') continue;
    const value = command.getOptionValue(attribute) as unknown;
    // `--no-x` sets an option that is not boolean to false, which stands for null.
    const isYesOrNo = flags.some((flag) => flag.name === name && flag.option.isBoolean());
    values[location][name] = value === false && !isYesOrNo ? null : value;
  }
  return values;
}
