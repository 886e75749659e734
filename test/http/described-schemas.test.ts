import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestServer, useSharedServer } from '../harness/server.ts';

let server: TestServer;
let document: any;
beforeAll(async () => {
  server = await useSharedServer();
  document = (await server.request('GET', '/openapi.json')).body;
});
afterAll(() => server.close());

interface Place {
  where: string;
  schema: any;
}

/** Lists a schema and all schemas in it, following references. */
function parts(where: string, schema: any, above: readonly string[] = []): Place[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = ($ref as string).split('/').at(-1) ?? '';
    return above.includes(name) ? [] : parts(where, document.components.schemas[name], [...above, name]);
  }
  return [
    { where, schema },
    ...Object.entries(properties).flatMap(([name, one]) => parts(`${where}.${name}`, one, above)),
    ...(items === undefined ? [] : parts(`${where}[]`, items, above)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one: any) => parts(where, one, above)),
    ...(typeof additionalProperties === 'object' ? parts(`${where}{}`, additionalProperties, above) : []),
  ];
}

const operations = () =>
  Object.entries<any>(document.paths).flatMap(([path, { servers: _servers, ...methods }]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      operation,
    })),
  );

const ofBodies = (operation: any, name: string): Place[] =>
  Object.values<any>(operation.requestBody?.content ?? {}).flatMap(({ schema }) => parts(name, schema));

describe('Schemas of the API description', () => {
  it('have no defaults in changes, where an absent member stays as it is', () => {
    const found = operations()
      .filter(({ method }) => method === 'patch' || method === 'put')
      .flatMap(({ name, operation }) => ofBodies(operation, name))
      .filter(({ schema }) => 'default' in schema)
      .map(({ where }) => where);
    expect(found).toEqual([]);
  });
});
