import type { RouteOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { useSharedServer } from '../harness/server.ts';

/** The 14 operations of the specification by number. */
const SPECIFIED = [
  ['DELETE', '/v1/vulnerability_tags/{id}'],
  ['PUT', '/v1/vulnerability_tags/{id}'],
  ['POST', '/v1/assessment_tags'],
  ['PUT', '/v1/assessment_tags/{id}'],
  ['PATCH', '/v1/vulnerabilities/{id}'],
  ['DELETE', '/v1/users/{id}'],
  ['GET', '/v1/assessments/{id}/testing_hours'],
  ['POST', '/api/tagging/v1.0/organizations/{orgUid}/tags'],
  ['PATCH', '/api/tagging/v1.0/organizations/{orgUid}/tags'],
  ['POST', '/api/asset/v2/bulk/assets/criticality:update'],
  ['PATCH', '/api/asset/v2/listings/{listingUid}/assets'],
  ['GET', '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members'],
  ['POST', '/api/assessment/v1/assessment-groups/{assessmentGroupId}/members/batchRemove'],
  ['GET', '/api/streaming/v1/{org_uid}/assets/{asset_uid}/ports'],
] as const;

interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

const routes: RouteOptions[] = [];
const server = await useSharedServer();
const app = await buildApp(server.context, (route) => void routes.push(route));
await app.close();

const publicRoutes = () => routes.filter(({ schema, method }) => schema?.hide !== true && method !== 'HEAD');
const nameOf = ({ method, url }: RouteOptions) => `${[method].flat().join('|')} ${url}`;
/** A path as in the specification; Fastify escapes a colon as `::`. */
const specified = (url: string) =>
  url
    .split('::')
    .map((part) => part.replace(/:(\w+)/g, '{$1}'))
    .join(':');

describe('Every route', () => {
  it('declares its access and a name for logs and metrics', () => {
    expect(routes.length).toBeGreaterThan(SPECIFIED.length);
    const silent = routes.filter(
      ({ config }) => config?.access === undefined || (config.operation ?? '') === '',
    );
    expect(silent.map(nameOf)).toEqual([]);
  });

  it("requires a credential unless it is the server's own", () => {
    const areas = routes.filter(({ url }) => /^\/(v1|api)\//.test(url));
    const open = areas.filter(({ config }) => typeof config?.access !== 'object');
    expect(open.map(nameOf)).toEqual([]);
    const scopeless = areas.filter(
      ({ config }) => typeof config?.access === 'object' && config.access.scopes.length === 0,
    );
    expect(scopeless.map(nameOf)).toEqual([]);
  });

  it.each(SPECIFIED.map(([method, path], index) => [index + 1, method, path] as const))(
    'operation %i is %s %s',
    (number, method, path) => {
      const matches = publicRoutes().filter(
        (route) => route.method === method && specified(route.url) === path,
      );
      expect(matches).toHaveLength(1);
      expect(matches[0]?.schema?.summary).toMatch(new RegExp(`^${number}\\. `));
    },
  );

  it('has a schema for every error it can return', () => {
    const lacking = publicRoutes().flatMap((route) => {
      const hasBody = route.schema?.body !== undefined;
      const invalidIsMalformed = /^\/api\/(assessment|streaming)\//.test(route.url);
      const required = [
        401,
        403,
        404,
        429,
        500,
        503,
        ...(hasBody ? [400, 408, 413, 415] : []),
        ...(hasBody && !invalidIsMalformed ? [422] : []),
      ];
      const responses = Object.keys((route.schema?.response ?? {}) as object);
      return required
        .filter((status) => !responses.includes(String(status)))
        .map((status) => `${nameOf(route)} ${status}`);
    });
    expect(lacking).toEqual([]);
  });

  it('limits every string and array of its schemas', () => {
    const unlimited = publicRoutes().flatMap((route) => {
      const { params, querystring, body, response } = route.schema ?? {};
      const parts = { params, querystring, body, ...responseSchemas(response) };
      return Object.entries(parts).flatMap(([part, schema]) =>
        schema === undefined
          ? []
          : unlimitedIn(schema as JsonSchema, part).map((path) => `${nameOf(route)}: ${path}`),
      );
    });
    expect(unlimited).toEqual([]);
  });

  it('finds schemas without a limit', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'array', items: { anyOf: [{ type: ['string', 'null'] }, { enum: ['x'] }] } },
        c: { type: 'string', maxLength: 1 },
        d: { type: 'array', maxItems: 1, items: { type: 'string', const: 'x' } },
        e: {},
      },
    };
    expect(unlimitedIn(schema, 'body')).toEqual(['body.a', 'body.b', 'body.b[]', 'body.e']);
  });
});

/** The schemas of a route's response bodies by status and media type. */
function responseSchemas(response: unknown): Record<string, JsonSchema> {
  const schemasByName: Record<string, JsonSchema> = {};
  for (const [status, described] of Object.entries((response ?? {}) as Record<string, any>)) {
    if (described.content === undefined) schemasByName[status] = described;
    else
      for (const [type, media] of Object.entries<any>(described.content))
        // Downloads are as long as the list.
        if (type !== 'text/csv' && type !== 'application/x-ndjson')
          schemasByName[`${status} ${type}`] = media.schema;
  }
  return schemasByName;
}

/** Where a schema allows strings or arrays of any length, or any value. */
function unlimitedIn(schema: JsonSchema, path: string): string[] {
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const types = [schema.type ?? []].flat();
  return [
    ...(types.length === 0 && choices.length === 0 ? [path] : []),
    ...(types.includes('string') && schema.maxLength === undefined ? [path] : []),
    ...(types.includes('array') && schema.maxItems === undefined ? [path] : []),
    ...choices.flatMap((choice) => unlimitedIn(choice, path)),
    ...(schema.items === undefined ? [] : unlimitedIn(schema.items, `${path}[]`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      unlimitedIn(property, `${path}.${name}`),
    ),
    ...(typeof schema.additionalProperties === 'object'
      ? unlimitedIn(schema.additionalProperties, `${path}.*`)
      : []),
  ];
}
