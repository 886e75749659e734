import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { demoManifest } from '../harness/demo-template.ts';
import { DESCRIBED_FORMATS, absoluteReferences } from '../harness/response-schema-check.ts';
import { useOwnServer } from '../harness/server.ts';

let token: string;
let document: any;
const server = await useOwnServer({}, Date.now, 'demo');
beforeAll(async () => {
  token = demoManifest(server.context.config.dataDirectory).users.staff.token ?? '';
  document = (await server.request('GET', '/openapi.json')).body;
});

interface Place {
  path: string;
  schema: any;
}

/** Lists a schema and all schemas in it, following references. */
function parts(path: string, schema: any, above: readonly string[] = []): Place[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = ($ref as string).split('/').at(-1) ?? '';
    return above.includes(name) ? [] : parts(path, document.components.schemas[name], [...above, name]);
  }
  return [
    { path, schema },
    ...Object.entries(properties).flatMap(([name, property]) => parts(`${path}.${name}`, property, above)),
    ...(items === undefined ? [] : parts(`${path}[]`, items, above)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((variant: any) => parts(path, variant, above)),
    ...(typeof additionalProperties === 'object' ? parts(`${path}{}`, additionalProperties, above) : []),
  ];
}

const operations = () =>
  Object.entries<any>(document.paths).flatMap(([path, { servers: _servers, ...methods }]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      path,
      operation,
    })),
  );

const everySchema = (): Place[] => [
  ...Object.entries<any>(document.components.schemas).flatMap(([name, schema]) =>
    parts(name, schema, [name]),
  ),
  ...operations().flatMap(({ name, operation }) => [
    ...(operation.parameters ?? []).flatMap((parameter: any) =>
      parts(`${name} ${parameter.name}`, parameter.schema),
    ),
    ...ofBodies(operation, name),
    ...Object.values<any>(operation.responses).flatMap(({ content = {} }) =>
      Object.values<any>(content).flatMap(({ schema }) => parts(name, schema)),
    ),
  ]),
];

const ofBodies = (operation: any, name: string): Place[] =>
  Object.values<any>(operation.requestBody?.content ?? {}).flatMap(({ schema }) => parts(name, schema));

describe('Schemas of the API description', () => {
  it('have no defaults in changes, where an absent member stays as it is', () => {
    const undescribed = operations()
      .filter(({ method }) => method === 'patch' || method === 'put')
      .flatMap(({ name, operation }) => ofBodies(operation, name))
      .filter(({ schema }) => 'default' in schema)
      .map(({ path }) => path);
    expect(undescribed).toEqual([]);
  });

  it('have no names that are words or types of a language', () => {
    // Keywords of TypeScript, Java, Go and Python; a name may differ from one in its case only.
    const words =
      'abstract any as assert async await bool boolean break byte case catch chan char class const continue date debugger default defer def del delete do double elif else enum error except export extends false final finally float for from func function global go goto if implements import in instanceof int integer interface is lambda let list long map module native new nil none nonlocal not null number object or package pass private protected public raise range record return select set short static string struct super switch symbol synchronized this throw throws transient true try type typeof undefined unknown var void volatile while with yield';
    const library = createRequire(new URL('../../client/package.json', import.meta.url)).resolve(
      'typescript',
    );
    const types = ['dom', 'es5', 'es2015.collection', 'es2015.promise'].flatMap((name) =>
      [
        ...readFileSync(new URL(`lib.${name}.d.ts`, `file://${library}`), 'utf8').matchAll(
          /^(?:declare )?(?:interface|type|var) (\w+)/gm,
        ),
      ].map(([, type = '']) => type.toLowerCase()),
    );
    expect(types).toContain('comment');
    const reserved = new Set([...words.split(' '), ...types]);
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => reserved.has(name.toLowerCase()))).toEqual([]);
  });

  it('have no limits of files and enumerations, and no null in an enumeration', () => {
    const schemas = everySchema();
    const limited = schemas.filter(
      ({ schema }) =>
        (schema.enum !== undefined || schema.format === 'binary') &&
        (schema.maxLength !== undefined || schema.minLength !== undefined),
    );
    const withNull = schemas.filter(({ schema }) => schema.enum?.includes(null));
    expect([...limited, ...withNull].map(({ path }) => path)).toEqual([]);
    expect(schemas.filter(({ schema }) => schema.enum !== undefined).length).toBeGreaterThan(50);
  });

  it('have no keywords of the server', () => {
    const unlimited = everySchema().flatMap(({ path, schema }) =>
      Object.keys(schema)
        .filter((key) => key.startsWith('x-'))
        .map((key) => `${path} ${key}`),
    );
    expect(unlimited).toEqual([]);
  });

  it('make an object nullable by an alternative', () => {
    const matches = everySchema().filter(
      ({ schema }) => schema.properties !== undefined && Array.isArray(schema.type),
    );
    expect(matches.map(({ path }) => path)).toEqual([]);
  });

  it('reject the texts in bodies that the rules reject, and no others', async () => {
    const ajv = new Ajv2020({ strict: false, formats: { ...DESCRIBED_FORMATS, 'date-time': ISO_8601 } });
    ajv.addSchema(document, 'description');
    const undescribed: string[] = [];
    const accepted: string[] = [];
    let rejected = 0;
    for (const { name, method, path, operation } of operations()) {
      const media = operation.requestBody?.content['application/json'];
      if (media === undefined) continue;
      const validate = ajv.compile(absoluteReferences(media.schema, 'description'));
      for (const at of textsIn(media.example)) {
        const body = structuredClone(media.example);
        replace(body, at, WRONG_TEXT);
        const { status, text } = await server.request(method.toUpperCase(), urlOf(path, operation), {
          token,
          body,
        });
        const location = `${name} ${at.filter((key) => !/^\d+$/.test(key)).join('.')}`;
        const isNamed = status === 422 && text.includes(`"property":"${at.join('.')}"`);
        if (isNamed) rejected += 1;
        if (!validate(body)) {
          // Requests with several members return a result for each.
          if (status < 400 && !text.includes('"role_invalid"')) accepted.push(location);
        } else if (isNamed && !UNKNOWN_OBJECT.test(text) && !ADDRESSES.test(at.join('.'))) {
          undescribed.push(`${location}: ${text}`);
        }
      }
    }
    expect(undescribed).toEqual([]);
    expect(accepted).toEqual([]);
    expect(rejected).toBeGreaterThan(30);
  });
});

const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** The text is a reference to an object, and there is none. */
const UNKNOWN_OBJECT = /is not (?:the uid of|an organization)/;
/** May have one of several formats: IPv4, IPv6, a host name or a URL. */
const ADDRESSES = /(?:^|\.)(?:location|ip_address|allowed_addresses\.\d+)$/;
/** Neither a date, an address, an id nor a word of an enumeration. */
const WRONG_TEXT = 'no such ☃';

function textsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}

function replace(value: any, [key = '', ...rest]: readonly string[], text: string): void {
  if (rest.length === 0) value[key] = text;
  else replace(value[key], rest, text);
}

function urlOf(path: string, operation: any): string {
  return (operation.parameters ?? [])
    .filter((parameter: any) => parameter.in === 'path')
    .reduce(
      (url: string, { name, example, schema }: any) =>
        url.replace(`{${name}}`, encodeURIComponent(example ?? schema.examples?.[0])),
      path,
    );
}
