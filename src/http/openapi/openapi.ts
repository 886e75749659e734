import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Context } from '../../context.ts';
import { DOCS_CLIENT, DOCS_REDIRECT } from '../../domain/tokens/oauth-clients.ts';
import type { AreaName } from '../../config/config.ts';
import { sufficientScopes } from '../../auth/scopes.ts';
import { areaOfPath, AREAS } from '../areas.ts';
import { RANGE_HEADERS } from '../ranges.ts';
import { IDEMPOTENCY_HEADERS } from '../idempotency.ts';
import { CONDITIONAL_HEADERS } from '../etags.ts';
import {
  completeDocument,
  type OpenApiDocument,
  securityRequirements,
  securitySchemes,
} from './openapi-document.ts';

const DOCS_PATH = '/docs';
/** Replaces the page of the plugin, whose inline script its policy would block. */
const REDIRECT_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Signing in</title>
  </head>
  <body>
    <script src="static/oauth2-redirect.js"></script>
  </body>
</html>
`;
/**
 * Runs before the initializer of the page reads its configuration. Sorts operations by the number in their summaries.
 */
const SWAGGER_UI_SCRIPT = `const numberOf = (entry) => parseInt(entry.getIn(['operation', 'summary']), 10);
const byNumber = (one, other) => numberOf(one) - numberOf(other);
const build = window.SwaggerUIBundle;
window.SwaggerUIBundle = Object.assign(
  (config) =>
    build({
      ...config,
      operationsSorter: byNumber,
      oauth2RedirectUrl: config.oauth2RedirectUrl.replace('/static/oauth2-redirect.html', '/oauth2-redirect.html'),
    }),
  build,
);
`;
/** On a phone, headings and addresses would get columns one letter wide. */
const MOBILE_STYLE = `@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { order: 1; flex: 1 0 100%; padding: 0; }
  .swagger-ui .opblock .opblock-summary-operation-id { display: none; }
}
`;
const TITLE = 'Assay API';

const DESCRIPTION = `Assay is an open, self-hosted security-testing platform for assessments and their vulnerabilities, tags, members, assets and ports.

Every operation requires a token. Send it as \`Authorization: Bearer <token>\`. Create one [in your account](/account/tokens) or with \`assay token create\`. All errors of an area have the same format. The \`type\` of a problem is a URL that explains it; [/problems](/problems) lists all of them. Every response has an \`X-Request-Id\`, which is also in the log.

The version above is that of the API. \`assay --version\` prints the version of the server.`;

/** The areas in the order of the specification. */
const AREA_ORDER: readonly AreaName[] = ['v1', 'tagging', 'asset', 'assessment', 'streaming'];

const TAG_DESCRIPTIONS: Readonly<Record<AreaName, string>> = {
  v1: 'Vulnerabilities and their tags, assessments and their tags, imports, users, organizations and testing sessions.',
  tagging: 'Tags on assets.',
  assessment: 'Members of assessment groups.',
  asset: 'Assets, and the listings they belong to.',
  streaming: 'Open and closed ports of hosts.',
};

const COMPANION_NOTE =
  'Operations numbered 15 and above are extensions of the specification (`x-companion`).';

/** Allows scripts, styles and images of this server, and requests to the API. */
const contentSecurityPolicy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * Serves the API description at `/openapi.json`, and a page to browse it at `/docs`. It describes every route that is
 * registered later.
 */
export async function registerOpenApi(app: FastifyInstance, { addresses, config }: Context): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: TITLE,
        version: '2.0.0',
        summary: 'The API of a security-testing platform.',
        description: DESCRIPTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      tags: AREA_ORDER.filter((name) => config.areas.includes(name)).map((name) => ({
        name: AREAS[name].title,
        description: `${TAG_DESCRIPTIONS[name]} ${COMPANION_NOTE}`,
      })),
      components: { securitySchemes: securitySchemes(addresses, config.implicitFlow) },
    },
    convertConstToEnum: false,
    stripBasePath: false,
    transform: ({ schema, url, route }) => ({ url, schema: describeRoute(schema, route) }),
    transformObject: (input) =>
      'openapiObject' in input
        ? (completeDocument(
            input.openapiObject as OpenApiDocument,
            addresses,
            config,
          ) as typeof input.openapiObject)
        : input.swaggerObject,
  });

  let sent: { text: string; etag: string } | undefined;
  app.get(
    '/openapi.json',
    { config: { operation: 'openapi', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      sent ??= renderDocument(app);
      reply.header('cache-control', 'public, max-age=300').header('etag', sent.etag);
      if (request.headers['if-none-match'] === sent.etag) return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(sent.text);
    },
  );

  const policy = contentSecurityPolicy(configuredOrigins(config));
  app.get(
    DOCS_REDIRECT,
    { config: { operation: 'documentation', access: 'open' }, schema: { hide: true } },
    async (_request, reply) =>
      reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(REDIRECT_PAGE),
  );
  await app.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: policy,
    theme: {
      title: TITLE,
      js: [{ filename: 'set-up.js', content: SWAGGER_UI_SCRIPT }],
      css: [{ filename: 'phone.css', content: MOBILE_STYLE }],
    },
    initOAuth: { clientId: DOCS_CLIENT, appName: TITLE, usePkceWithAuthorizationCodeGrant: true },
    uiConfig: {
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      // Rendering the schemas takes a quarter of the time until the page responds.
      defaultModelsExpandDepth: 0,
      displayOperationId: true,
      validatorUrl: null,
    },
  });
}

/** Allows everyone to read the documentation, whose plugin sets no access rule. */
export function allowDocumentation(route: RouteOptions): void {
  if (route.url === DOCS_PATH || route.url.startsWith(`${DOCS_PATH}/`)) {
    route.config = { operation: 'documentation', access: 'open', ...route.config };
  }
}

function renderDocument(app: FastifyInstance): { text: string; etag: string } {
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

function describeRoute(schema: FastifySchema | undefined, route: RouteOptions): FastifySchema {
  const access = route.config?.access;
  if (schema === undefined || schema.hide === true || access === undefined) return { hide: true };
  const method = String(route.method);
  const scopes =
    typeof access === 'object' && access.scopes.includes('api')
      ? sufficientScopes(access.scopes, method)
      : [];
  const scope =
    scopes.length === 0 ? '' : ` Requires the scope ${scopes.map((name) => `\`${name}\``).join(' or ')}.`;
  const headers = requestHeaders(route);
  return {
    ...schema,
    ...(headers === undefined ? {} : { headers }),
    tags: [areaOfPath(route.url).title],
    security: securityRequirements(access, method),
    description: `${schema.description ?? ''}${scope}`.trim(),
  };
}

/** The request headers of an operation. Described here, as no schema validates them. */
function requestHeaders({ method, config }: RouteOptions): object | undefined {
  const { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch } = CONDITIONAL_HEADERS;
  const properties = {
    ...(config?.versioned === true && method === 'GET' ? { 'If-None-Match': ifNoneMatch } : {}),
    ...(config?.versioned === true && method !== 'GET' && method !== 'POST' ? { 'If-Match': ifMatch } : {}),
    ...(config?.idempotent === true ? IDEMPOTENCY_HEADERS : {}),
    ...(config?.ranged === true ? RANGE_HEADERS : {}),
  };
  return Object.keys(properties).length === 0 ? undefined : { type: 'object', properties };
}

function configuredOrigins({ baseUrl, baseUrlFedramp, clientBaseUrl }: Config): string[] {
  const urls = [baseUrl, baseUrlFedramp, clientBaseUrl].filter((url) => url !== undefined);
  return [...new Set(urls.map((url) => new URL(url).origin))];
}
