import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  alternativesOf,
  type DescribedOperation,
  schemaMembers,
  type Parameter,
  type OpenApiSchema,
} from './openapi-operations.ts';

/** A part of a request that an option fills. */
export interface OperationOption {
  location: 'query' | 'body' | 'header';
  /** As the request has it: `filter[status_id][]`. */
  name: string;
  option: Option;
  /** Whether a request without it is refused. */
  required: boolean;
}

/** What pages, and what the command line does by itself. */
const HANDLED_PARAMETERS = /^(page(\[|$)|perPage$|per_page$|Idempotency-Key$|If-None-Match$|Range$)/;

/** @returns what options an operation has, made from what it takes */
export function optionsOf(operation: DescribedOperation): OperationOption[] {
  const { parameters, body, method } = operation;
  const { members, required } = schemaMembers(body ?? {});
  const ofBody = Object.entries(members).map(([name, schema]): OperationOption => ({
    location: 'body',
    name,
    required: required.has(name),
    option: optionOf(name, schema, required.has(name)),
  }));
  const ofQuery = parameters
    .filter(
      (parameter) =>
        parameter.in !== 'path' && !HANDLED_PARAMETERS.test(parameter.name) && !(parameter.name in members),
    )
    .map((parameter): OperationOption => {
      const { name, schema, required: must = false, description } = parameter;
      return {
        location: parameter.in === 'header' ? 'header' : 'query',
        name,
        required: must,
        option: optionOf(optionName(parameter), { description, ...schema } as OpenApiSchema, must),
      };
    });
  const flags = [...ofBody, ...ofQuery];
  for (const { option } of flags) option.description = withOptionNames(option.description, flags);
  return flags.flatMap((flag) => [flag, ...negatedOptionOf(flag, method, members)]);
}

/** @returns a text of the description in which `parts` of the request are called as one types them */
export function withOptionNames(text: string, flags: readonly OperationOption[]): string {
  return text.replace(/`([A-Za-z_]+)`/g, (said, word: string) => {
    const long = flags.find(({ name, option }) => name === word && !option.negate)?.option.long;
    return typeof long === 'string' ? `\`${long}\`` : said;
  });
}

/** `filter[status_id][]` is `status_id` to people. */
function optionName({ name }: Parameter): string {
  return name.replace(/^filter\[(.*?)\]/, '$1').replace(/\[\]$/, '');
}

/** @returns a name of the request as the command line writes it */
export const toKebabCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** What JSON an option may be given, where it takes such. */
const exampleOf = new WeakMap<Option, string>();

/** @returns what to say of the form of what an option takes, after that it is missing or wrong; empty where its name says it */
export function exampleValueOf(option: Option): string {
  const example = exampleOf.get(option);
  return example === undefined ? '' : `: it is JSON, such as '${example}'`;
}

type Kind = 'integer' | 'number' | 'string' | 'boolean' | 'json';
const WORDS: Readonly<Record<Kind, string>> = {
  integer: 'number',
  number: 'number',
  string: 'text',
  boolean: '',
  json: 'json',
};

function optionOf(name: string, schema: OpenApiSchema, required: boolean): Option {
  const { kind, many, allowed } = readSchema(schema);
  const word = schema.description?.startsWith('ISO 8601') === true ? 'time' : WORDS[kind];
  const flags = `--${toKebabCase(name)}${kind === 'boolean' ? '' : ` <${word}>`}`;
  const notes = [many ? 'may be given again' : '', required ? 'required' : ''].filter((note) => note !== '');
  const said = schema.description ?? firstAlternative(schema)?.description ?? '';
  const text = [said.replace(/\s+/g, ' '), ...notes.map((note) => `(${note})`)].filter(Boolean).join(' ');
  const option = new Option(flags, text === '' ? toKebabCase(name).replaceAll('-', ' ') : text);
  const [example] = (firstAlternative(schema) ?? schema).examples ?? [];
  if (kind === 'json' && example !== undefined) exampleOf.set(option, JSON.stringify(example));
  if (allowed !== undefined && allowed.length <= 20) option.choices(allowed);
  if (kind === 'boolean') return option;
  return option.argParser((given: string, before: unknown) => {
    const value = parseValue(given, kind, allowed);
    // Objects may be given one by one, or as the array that the API takes.
    return many ? [...((before as unknown[] | undefined) ?? []), ...[value].flat()] : value;
  });
}

const firstAlternative = (schema: OpenApiSchema) => alternativesOf(schema)[0];

function readSchema(schema: OpenApiSchema): { kind: Kind; many: boolean; allowed: string[] | undefined } {
  const alternatives = alternativesOf(schema).filter(({ type }) => type !== 'null');
  const array = alternatives.find(({ type }) => type === 'array');
  const one = array === undefined ? alternatives : alternativesOf(array.items ?? {});
  const scalar = one.find(({ type }) => ['integer', 'number', 'string', 'boolean'].includes(String(type)));
  const kind = (scalar?.type as Kind | undefined) ?? 'json';
  const words = scalar?.enum?.filter((value) => typeof value === 'string');
  return { kind, many: array !== undefined, allowed: words?.length === 0 ? undefined : words };
}

function parseValue(given: string, kind: Kind, allowed: readonly string[] | undefined): unknown {
  if (allowed !== undefined) return parseChoiceOption(given, allowed);
  if (kind === 'integer' && !/^-?\d{1,15}$/.test(given))
    throw new InvalidArgumentError('It must be a whole number.');
  if (kind === 'number' && !(given.trim() !== '' && Number.isFinite(Number(given))))
    throw new InvalidArgumentError('It must be a number.');
  if (kind === 'integer' || kind === 'number') return Number(given);
  return kind === 'json' ? parseJson(given) : given;
}

/** @returns the choice that was meant, whatever its case */
export function parseChoiceOption(given: string, allowed: readonly string[]): string {
  const meant =
    allowed.find((one) => one === given) ?? allowed.find((one) => one.toLowerCase() === given.toLowerCase());
  if (meant === undefined) throw new InvalidArgumentError(`Allowed choices are ${allowed.join(', ')}.`);
  return meant;
}

/** @throws InvalidArgumentError for what is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('It must be JSON.');
  }
}

/** `--no-x`: false, or in a change `null` for what may be that. */
function negatedOptionOf(
  flag: OperationOption,
  method: string,
  members: Readonly<Record<string, OpenApiSchema>>,
): OperationOption[] {
  const { option, location, name } = flag;
  const long = option.long ?? '';
  if (option.isBoolean())
    return [{ ...flag, option: new Option(long.replace('--', '--no-'), 'the opposite') }];
  const nullable = alternativesOf(members[name] ?? {}).some(({ type }) => type === 'null');
  return location === 'body' && nullable && (method === 'PATCH' || method === 'PUT')
    ? [{ ...flag, option: new Option(long.replace('--', '--no-'), `none, or what it is unless told`) }]
    : [];
}

/** @returns the values that a command was given, by the parts of the request that they fill */
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
    // Of what is no yes or no, "no" takes it away.
    const isYesOrNo = flags.some((other) => other.name === name && other.option.isBoolean());
    values[location][name] = value === false && !isYesOrNo ? null : value;
  }
  return values;
}
