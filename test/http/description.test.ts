import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ASSET_DELETE_SCOPES,
  ASSET_READ_SCOPES,
  ASSET_WRITE_SCOPES,
  SCOPES,
  TAG_WRITE_SCOPES,
  TAG_SCOPES,
} from '../../src/auth/scopes.ts';
import { FALLBACK_EXAMPLE } from '../../src/http/openapi/examples.ts';
import { absoluteReferences } from '../harness/response-schema-check.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';

const ADDRESSES = {
  baseUrl: 'https://api.assay.example',
  baseUrlFedramp: 'https://gov.assay.example',
  clientBaseUrl: 'https://client.assay.example',
  authUrl: 'https://login.assay.example/authorize',
};

const server = await startSecondServer(await useSharedServer(), ADDRESSES);
const document: any = (await server.request('GET', '/openapi.json')).body;
afterAll(() => server.close());

interface Operation {
  path: string;
  method: string;
  operation: any;
  servers: { url: string }[];
}

const operations = (): Operation[] =>
  Object.entries<any>(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation, servers })),
  );

function resolve(part: any): any {
  if (part?.$ref === undefined) return part;
  const keys = (part.$ref as string).split('/').slice(1);
  return resolve(keys.reduce((value, key) => value[key.replaceAll('~1', '/')], document));
}

describe('API description', () => {
  it('is OpenAPI 3.1, version 2.0.0, under Apache-2.0', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({
      title: 'Assay API',
      version: '2.0.0',
      license: { identifier: 'Apache-2.0' },
      description: expect.stringMatching(/./),
    });
  });

  it('has a unique id, a summary, a tag and a description for each operation', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(ids.length).toBeGreaterThanOrEqual(14);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations()) {
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        summary: expect.stringMatching(/./),
        description: expect.stringMatching(/./),
      });
      expect(document.tags.map(({ name }: { name: string }) => name)).toContain(operation.tags[0]);
    }
  });

  it('has every operation that a file of src/api declares, numbered as in the specification', () => {
    const api = join(import.meta.dirname, '../../src/api');
    const declared = readdirSync(api, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [...readFileSync(join(api, name), 'utf8').matchAll(/\bnumber: (\d+),/g)])
      .map(([, number]) => Number(number))
      .sort((one, other) => one - other);
    const described = operations()
      .map(({ operation }) => Number.parseInt(operation.summary, 10))
      .sort((one, other) => one - other);
    expect(described).toEqual(declared);
    // Each number names one operation, except those that name two, and the built ones have no gaps.
    const last = Math.max(...described);
    expect(last).toBeGreaterThanOrEqual(84);
    const specified = Array.from({ length: last }, (_, index) => index + 1);
    expect(described).toEqual(
      specified.flatMap((number) => ([26, 40].includes(number) ? [number, number] : [number])),
    );
  });

  it('lists both servers of V1 and the server of the other areas', () => {
    const urls = (servers: { url: string }[]) => servers.map(({ url }) => url).sort();
    const { baseUrl, baseUrlFedramp, clientBaseUrl } = ADDRESSES;
    expect(urls(document.servers)).toEqual([baseUrl, clientBaseUrl, baseUrlFedramp].sort());
    for (const { path, servers } of operations()) {
      const expected = path.startsWith('/v1/') ? [baseUrl, baseUrlFedramp] : [clientBaseUrl];
      expect([path, urls(servers)]).toEqual([path, expected.sort()]);
    }
  });

  it.each([
    ['commercial', [ADDRESSES.baseUrl, ADDRESSES.baseUrlFedramp]],
    ['fedramp', [ADDRESSES.baseUrlFedramp, ADDRESSES.baseUrl]],
  ] as const)(
    'lists the server of the %s deployment first if it describes that deployment',
    async (deployment, v1) => {
      const otherServer = await startSecondServer(server, { ...ADDRESSES, deployment });
      try {
        const { body } = await otherServer.request('GET', '/openapi.json');
        const { servers } = body.paths['/v1/users/{id}'] as { servers: { url: string }[] };
        expect(servers.map(({ url }) => url)).toEqual(v1);
      } finally {
        await otherServer.close();
      }
    },
  );

  it('has the security schemes of the specification, and its scopes for both flows', () => {
    expect(document.components.securitySchemes).toMatchObject({
      bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      basicAuth: { type: 'http', scheme: 'basic' },
      apiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-Auth' },
      oauth2: {
        type: 'oauth2',
        flows: {
          implicit: { authorizationUrl: ADDRESSES.authUrl, scopes: SCOPES },
          authorizationCode: {
            authorizationUrl: ADDRESSES.authUrl,
            tokenUrl: `${ADDRESSES.clientBaseUrl}/oauth/token`,
            scopes: SCOPES,
          },
        },
      },
    });
  });

  it('omits the implicit flow if the deployment has none', async () => {
    const otherServer = await startSecondServer(server, { implicitFlow: false });
    try {
      const { body } = await otherServer.request('GET', '/openapi.json');
      expect(Object.keys(body.components.securitySchemes.oauth2.flows)).toEqual(['authorizationCode']);
    } finally {
      await otherServer.close();
    }
  });

  it('orders sections and operations as the specification does', () => {
    const sections = document.tags.map(({ name }: { name: string }) =>
      operations()
        .filter(({ operation }) => operation.tags[0] === name)
        .map(({ path, operation }) => ({ path, number: parseInt(operation.summary, 10) })),
    ) as { path: string; number: number }[][];
    const ascending = (numbers: number[]) => numbers.toSorted((one, other) => one - other);
    for (const section of sections) {
      // A path is at the position of its first operation.
      const paths = [...new Set(section.map(({ path }) => path))];
      const numbers = paths.map((at) =>
        section.filter(({ path }) => path === at).map(({ number }) => number),
      );
      for (const chunk of numbers) expect(chunk).toEqual(ascending(chunk));
      const firsts = numbers.map(([first = 0]) => first);
      expect(firsts).toEqual(ascending(firsts));
    }
    // Each section starts with operations of the specification, followed by companions.
    const specified = sections.flatMap((section) =>
      section.map(({ number }) => number).filter((number) => number <= 14),
    );
    expect(specified).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
  });

  it('lists the security schemes and scopes of each operation', () => {
    const anyOf = (scopes: readonly string[]) => [
      ...scopes.map((scope) => ({ oauth2: [scope] })),
      { bearerAuth: [] },
    ];
    const apiScopes = (method: string) => (method === 'get' ? ['api', 'api_read'] : ['api']);
    const expected: Record<string, (method: string) => readonly string[]> = {
      '/api/tagging/': (method) => (/put|delete/.test(method) ? TAG_WRITE_SCOPES : TAG_SCOPES),
      '/api/asset/': (method) => {
        if (method === 'delete') return ASSET_DELETE_SCOPES;
        return method === 'get' ? ASSET_READ_SCOPES : ASSET_WRITE_SCOPES;
      },
      '/api/assessment/': apiScopes,
      '/api/streaming/': apiScopes,
    };
    const v1Security = (method: string) => [
      { bearerAuth: [] },
      { basicAuth: [] },
      { apiKeyAuth: [] },
      ...apiScopes(method).map((scope) => ({ oauth2: [scope] })),
    ];
    const inOrder = (security: readonly object[]) =>
      security.map((requirement) => JSON.stringify(requirement)).sort();
    for (const { path, method, operation } of operations()) {
      const [, scopes] = Object.entries(expected).find(([prefix]) => path.startsWith(prefix)) ?? [];
      const security = scopes === undefined ? v1Security(method) : anyOf(scopes(method));
      expect([path, inOrder(operation.security)]).toEqual([path, inOrder(security)]);
      const stated = / Requires the scope (.*)\.$/.exec(operation.description)?.[1];
      const areaScopes = /^\/api\/(tagging|asset)\//.test(path) ? undefined : apiScopes(method);
      expect([path, stated]).toEqual([path, areaScopes?.map((scope) => `\`${scope}\``).join(' or ')]);
    }
  });

  it('names every object of a request or response', () => {
    const unnamed = (part: any, path: string): string[] => {
      if (part === null || typeof part !== 'object') return [];
      const { properties = {}, example: _example, examples: _examples, ...rest } = part;
      const inner = Object.entries({ ...rest, ...properties }).flatMap(([name, value]) =>
        unnamed(value, `${path}/${name}`),
      );
      return Object.keys(properties).length > 0 ? [path, ...inner] : inner;
    };
    const { schemas, responses } = document.components;
    expect(unnamed({ paths: document.paths, responses }, '')).toEqual([]);
    const nested = Object.values<any>(schemas).flatMap(({ title, properties = {} }) =>
      unnamed(Object.values(properties), title),
    );
    expect(nested).toEqual([]);
    expect(Object.values<any>(schemas).filter(({ title }) => title === undefined)).toEqual([]);
  });

  it('describes the headers of each response, and shape and example of each error', () => {
    for (const { path, method, operation } of operations()) {
      for (const [status, response] of Object.entries<any>(operation.responses)) {
        const { headers, content, description } = resolve(response);
        const location = `${method} ${path} ${status}`;
        expect([location, Object.keys(headers)]).toEqual([
          location,
          expect.arrayContaining(['X-Request-Id']),
        ]);
        expect([location, description]).not.toEqual([location, 'Default Response']);
        if (status === '401') expect(headers).toHaveProperty('WWW-Authenticate');
        if (status === '429' || status === '503') expect(headers).toHaveProperty('Retry-After');
        for (const media of Object.values<any>(content ?? {})) {
          expect([location, media.example]).toEqual([location, expect.anything()]);
          if (Number(status) >= 400) expect(media.schema.$ref).toMatch(/^#\/components\/schemas\//);
        }
      }
    }
  });

  it('has examples that match their schemas and are not placeholders', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'openapi');
    let checked = 0;
    // Schemas repeat, and compiling them is slow.
    const validators = new Map<string, ValidateFunction>();
    const validatorOf = (schema: any): ValidateFunction => {
      const text = JSON.stringify(schema);
      const validate = validators.get(text) ?? ajv.compile(absoluteReferences(schema, 'openapi'));
      validators.set(text, validate);
      return validate;
    };
    const check = (location: string, schema: any, example: unknown) => {
      const validate = validatorOf(schema);
      expect([location, validate(example), validate.errors]).toEqual([location, true, null]);
      // Matches values, not names.
      expect(JSON.stringify(example)).not.toMatch(new RegExp(`"${FALLBACK_EXAMPLE}"(?!:)`));
      checked += 1;
    };
    for (const { path, method, operation } of operations()) {
      const location = `${method} ${path}`;
      for (const media of Object.values<any>(operation.requestBody?.content ?? {}))
        check(location, media.schema, media.example);
      for (const parameter of operation.parameters ?? []) {
        if (parameter.example !== undefined) check(location, parameter.schema, parameter.example);
      }
      for (const response of Object.values<any>(operation.responses)) {
        for (const media of Object.values<any>(resolve(response).content ?? {}))
          check(location, media.schema, media.example);
      }
    }
    expect(checked).toBeGreaterThan(100);
  });

  it('includes the patterns and limits of the specification', () => {
    const { requestBody } = document.paths['/api/asset/v2/bulk/assets/criticality:update'].post;
    expect(resolve(requestBody.content['application/json'].schema).properties).toMatchObject({
      organizationUid: { pattern: '^[-_0-9a-z]{1,50}' },
      criticality: { enum: ['high', 'medium', 'low', 'undefined'] },
      assetUids: { items: { pattern: '^[0-9a-f]{24}' }, maxItems: 10_000 },
    });
    const batchRemove =
      document.paths['/api/assessment/v1/assessment-groups/{assessmentGroupId}/members/batchRemove'].post;
    expect(
      resolve(batchRemove.requestBody.content['application/json'].schema).properties.userUids,
    ).toMatchObject({
      minItems: 1,
      maxItems: 100,
      items: { minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' },
    });
  });

  it('omits what only the server needs', async () => {
    const { text } = await server.request('GET', '/openapi.json');
    expect(text).not.toMatch(/~kind|x-batch|x-unknown|def-\d|Default Response|\/metrics|\/readyz|Symbol/);
  });

  it('supports If-None-Match', async () => {
    const first = await server.request('GET', '/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^".+"$/);
    const repeated = await server.request('GET', '/openapi.json', { headers: { 'if-none-match': etag } });
    expect([repeated.status, repeated.text]).toEqual([304, '']);
  });
});

describe('Documentation page', () => {
  const policy = async (path: string): Promise<Map<string, string>> => {
    const { headers } = await server.request('GET', path);
    const text = headers.get('content-security-policy') ?? '';
    return new Map(text.split('; ').map((part) => part.split(/ (.*)/s).slice(0, 2) as [string, string]));
  };

  it('has a Content-Security-Policy without inline or external sources', async () => {
    const rules = await policy('/docs');
    expect(Object.fromEntries(rules)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'frame-ancestors': "'none'",
      'connect-src': `'self' ${ADDRESSES.baseUrl} ${ADDRESSES.baseUrlFedramp} ${ADDRESSES.clientBaseUrl}`,
    });
  });

  it('complies with it, and all of its assets exist', async () => {
    const { status, text } = await server.request('GET', '/docs');
    expect(status).toBe(200);
    expect(text).toContain('<title>Assay API</title>');
    expect(text).not.toMatch(/<style|style=|<script>|\son[a-z]+=|https?:/);
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(assets.length).toBeGreaterThan(3);
    for (const path of assets) {
      const asset = await server.request('GET', path);
      expect([path, asset.status]).toEqual([path, 200]);
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const { text: initializer } = await server.request('GET', '/docs/static/swagger-initializer.js');
    expect(initializer).toContain('"validatorUrl":null');
  });

  it('shows /openapi.json', async () => {
    expect((await server.request('GET', '/docs/json')).body).toEqual(document);
  });

  it('returns 404 for unknown files', async () => {
    const { status, body } = await server.request('GET', '/docs/static/..%2f..%2fpackage.json');
    expect([status, body.title]).toEqual([404, 'Not found']);
    expect((await server.request('GET', '/docs/static/nothing.js')).status).toBe(404);
    expect((await server.request('POST', '/docs')).status).toBe(405);
  });
});
