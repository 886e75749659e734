import { readFileSync } from 'node:fs';
import { ROOT } from '../paths.ts';

/** As much of JSON Schema as the description uses. */
export interface OpenApiSchema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  items?: OpenApiSchema;
  properties?: Readonly<Record<string, OpenApiSchema>>;
  required?: readonly string[];
  anyOf?: readonly OpenApiSchema[];
  oneOf?: readonly OpenApiSchema[];
  description?: string;
  examples?: readonly unknown[];
  maximum?: number;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: OpenApiSchema;
  example?: unknown;
}

interface Media {
  schema: OpenApiSchema;
}

interface RawOperation {
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface Document {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, OpenApiSchema> };
}

/** An operation of the API, as the command line needs to know it. */
export interface DescribedOperation {
  method: string;
  /** With the names of its parameters in braces. */
  path: string;
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /** What JSON it takes; `undefined` when none. */
  body: OpenApiSchema | undefined;
  /** Whether it takes files instead. */
  takesFiles: boolean;
  /** What it answers with when it succeeds: a schema by media type. */
  responses: Readonly<Record<string, OpenApiSchema>>;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

let read: {
  schemas: Readonly<Record<string, OpenApiSchema>>;
  operations: ReadonlyMap<string, DescribedOperation>;
};

/** The description that this version was made with; a server of another version may know more, or less. */
function loadDescription(): typeof read {
  if (read !== undefined) return read;
  const text = readFileSync(new URL('openapi.json', ROOT), 'utf8');
  const { paths, components } = JSON.parse(text) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, raw]): [string, DescribedOperation][] =>
      // A path may name its servers beside its methods.
      METHODS.has(method) ? [[operationKey(method, path), parseOperation(method, path, raw)]] : [],
    ),
  );
  read = { schemas: components.schemas, operations: new Map(operations) };
  return read;
}

function parseOperation(method: string, path: string, raw: RawOperation): DescribedOperation {
  const taken = raw.requestBody?.content ?? {};
  const success = Object.entries(raw.responses).find(([status]) => status.startsWith('2'))?.[1];
  return {
    method: method.toUpperCase(),
    path,
    summary: raw.summary.replace(/^\d+\. /, ''),
    description: raw.description,
    parameters: raw.parameters ?? [],
    body: taken['application/json']?.schema,
    takesFiles: 'multipart/form-data' in taken,
    responses: Object.fromEntries(
      Object.entries(success?.content ?? {}).map(([type, { schema }]) => [type, schema]),
    ),
  };
}

function operationKey(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}')}`;
}

/** @param key its method and its path, whose parameters have no names here: `GET /v1/users/{}` */
export function findOperation(key: string): DescribedOperation | undefined {
  return loadDescription().operations.get(key);
}

/** @returns the keys of every operation there is */
export function operationKeys(): string[] {
  return [...loadDescription().operations.keys()];
}

/** @returns the schema that a reference leads to, or the schema itself */
export function resolveSchema(schema: OpenApiSchema): OpenApiSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolveSchema(loadDescription().schemas[name] ?? {});
}

/** @returns what a value may be, each by itself: a schema that allows several is taken apart */
export function alternativesOf(schema: OpenApiSchema): OpenApiSchema[] {
  const { anyOf, oneOf, ...rest } = resolveSchema(schema);
  const several = anyOf ?? oneOf;
  if (several !== undefined) return several.flatMap(alternativesOf);
  return [rest.type ?? []].flat().length > 1
    ? [rest.type ?? []].flat().map((type) => ({ ...rest, type }))
    : [rest];
}

/** @returns the members of an object that a schema allows, by name */
export function schemaMembers(schema: OpenApiSchema): {
  members: Readonly<Record<string, OpenApiSchema>>;
  required: ReadonlySet<string>;
} {
  const object = alternativesOf(schema).find(({ properties }) => properties !== undefined);
  return { members: object?.properties ?? {}, required: new Set(object?.required) };
}

/** @returns the schema of a list's row: of an array, or of the one array in an envelope; `undefined` for what is no list */
export function rowSchema({ method, responses: answers }: DescribedOperation): OpenApiSchema | undefined {
  const answer = answers['application/json'];
  if (method !== 'GET' || answer === undefined) return undefined;
  const { type, items } = resolveSchema(answer);
  if (type === 'array') return items;
  const { members } = schemaMembers(answer);
  const attributes = members['data'] && schemaMembers(members['data']).members['attributes'];
  const isPaged = attributes !== undefined || members['metadata'] !== undefined;
  const within = attributes === undefined ? members : schemaMembers(attributes).members;
  return isPaged
    ? Object.values(within)
        .map(resolveSchema)
        .find((member) => member.type === 'array')?.items
    : undefined;
}
