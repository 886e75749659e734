import { readFileSync } from 'node:fs';
import { ROOT } from '../paths.ts';

/** The part of JSON Schema that the API description uses. */
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

export interface DescribedOperation {
  method: string;
  /** Path with parameter names in braces. */
  path: string;
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /** Schema of the JSON body; `undefined` if there is none. */
  body: OpenApiSchema | undefined;
  /** Whether the body is multipart/form-data. */
  takesFiles: boolean;
  /** Schemas of the success response, by media type. */
  responses: Readonly<Record<string, OpenApiSchema>>;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

let read: {
  schemas: Readonly<Record<string, OpenApiSchema>>;
  operations: ReadonlyMap<string, DescribedOperation>;
};

/** Reads the API description of this version; a server may have another version. */
function loadDescription(): typeof read {
  if (read !== undefined) return read;
  const text = readFileSync(new URL('openapi.json', ROOT), 'utf8');
  const { paths, components } = JSON.parse(text) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, raw]): [string, DescribedOperation][] =>
      // A path item also has keys that are not methods, such as `servers`.
      METHODS.has(method) ? [[operationKey(method, path), parseOperation(method, path, raw)]] : [],
    ),
  );
  read = { schemas: components.schemas, operations: new Map(operations) };
  return read;
}

function parseOperation(method: string, path: string, raw: RawOperation): DescribedOperation {
  const content = raw.requestBody?.content ?? {};
  const success = Object.entries(raw.responses).find(([status]) => status.startsWith('2'))?.[1];
  return {
    method: method.toUpperCase(),
    path,
    summary: raw.summary.replace(/^\d+\. /, ''),
    description: raw.description,
    parameters: raw.parameters ?? [],
    body: content['application/json']?.schema,
    takesFiles: 'multipart/form-data' in content,
    responses: Object.fromEntries(
      Object.entries(success?.content ?? {}).map(([type, { schema }]) => [type, schema]),
    ),
  };
}

function operationKey(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/\{[^{}]*\}/g, '{}')}`;
}

/** @param key method and path, without parameter names: `GET /v1/users/{}` */
export function findOperation(key: string): DescribedOperation {
  const operation = loadDescription().operations.get(key);
  if (operation === undefined) throw new Error(`The API description has no operation "${key}".`);
  return operation;
}

export function operationKeys(): string[] {
  return [...loadDescription().operations.keys()];
}

/** Returns the schema that `$ref` names, or the schema itself. */
export function resolveSchema(schema: OpenApiSchema): OpenApiSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolveSchema(loadDescription().schemas[name] ?? {});
}

/** Returns the alternatives of a schema: the members of anyOf or oneOf, or one schema for each type. */
export function alternativesOf(schema: OpenApiSchema): OpenApiSchema[] {
  const { anyOf, oneOf, ...rest } = resolveSchema(schema);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return variants.flatMap(alternativesOf);
  return [rest.type ?? []].flat().length > 1
    ? [rest.type ?? []].flat().map((type) => ({ ...rest, type }))
    : [rest];
}

/** Returns the properties of an object schema, by name. */
export function schemaMembers(schema: OpenApiSchema): {
  members: Readonly<Record<string, OpenApiSchema>>;
  required: ReadonlySet<string>;
} {
  const object = alternativesOf(schema).find(({ properties }) => properties !== undefined);
  return { members: object?.properties ?? {}, required: new Set(object?.required) };
}

/** Returns the schema of the rows if the response is an array or an envelope with an array, else `undefined`. */
export function rowSchema({ method, responses }: DescribedOperation): OpenApiSchema | undefined {
  const response = responses['application/json'];
  if (method !== 'GET' || response === undefined) return undefined;
  const { type, items } = resolveSchema(response);
  if (type === 'array') return items;
  const { members } = schemaMembers(response);
  const attributes = members['data'] && schemaMembers(members['data']).members['attributes'];
  const isPaged = attributes !== undefined || members['metadata'] !== undefined;
  const fields = attributes === undefined ? members : schemaMembers(attributes).members;
  return isPaged
    ? Object.values(fields)
        .map(resolveSchema)
        .find((member) => member.type === 'array')?.items
    : undefined;
}
