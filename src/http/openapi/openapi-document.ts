import { STATUS_CODES } from 'node:http';
import { SCOPES, sufficientScopes } from '../../auth/scopes.ts';
import type { Addresses, Config } from '../../config/config.ts';
import type { Access } from '../access.ts';
import { type Area, areaOfPath, AREAS } from '../areas.ts';
import { type DescribedSchema, exampleOf } from './examples.ts';
import { DESCRIBED } from '../schemas.ts';
import { BATCH } from '../validation/array-limits.ts';
import { type JsonSchema, mapSchema } from '../validation/map-schema.ts';
import { NULL_NOT_ALLOWED } from '../validation/drop-nulls.ts';
import { PROBLEM_TYPES, type ProblemTypeName } from '../problem-types.ts';
import { Problem, problemBody } from '../problems.ts';
import { ALLOW_UNKNOWN_ID } from '../validation/derived-schemas.ts';

interface MediaType {
  schema: DescribedSchema;
  example?: unknown;
  examples?: unknown;
}

interface DocumentedResponse {
  $ref?: string;
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, MediaType>;
}

interface DocumentedOperation {
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, DocumentedResponse>;
}

/** Keywords for the server only. */
const INTERNAL_KEYWORDS: ReadonlySet<string> = new Set([BATCH, ALLOW_UNKNOWN_ID, NULL_NOT_ALLOWED]);

export interface OpenApiDocument {
  openapi: string;
  info: object;
  tags?: object[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: {
    schemas?: Record<string, DescribedSchema>;
    responses?: Record<string, DocumentedResponse>;
    headers?: Record<string, object>;
    securitySchemes?: Record<string, object>;
  };
}

/** @param implicitFlow whether this deployment supports it */
export function securitySchemes({ authUrl, clientBaseUrl }: Addresses, implicitFlow: boolean) {
  return {
    bearerAuth: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A JWT access token or a personal access token.',
    },
    basicAuth: {
      type: 'http',
      scheme: 'basic',
      description: 'The email address as user name and a personal access token as password.',
    },
    apiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-Auth', description: 'A personal access token.' },
    oauth2: {
      type: 'oauth2',
      description:
        'Send the access token as a bearer token. Any one of the listed scopes is sufficient. Prefer the authorization code flow with PKCE (S256).',
      flows: {
        ...(implicitFlow ? { implicit: { authorizationUrl: authUrl, scopes: SCOPES } } : {}),
        authorizationCode: {
          authorizationUrl: authUrl,
          tokenUrl: `${clientBaseUrl}/oauth/token`,
          scopes: SCOPES,
        },
      },
    },
  } as const;
}

/** Describes the access rule of a route: any one of the requirements is sufficient. */
export function securityRequirements(access: Access, method: string): Record<string, string[]>[] {
  if (typeof access === 'string') return [];
  const oauth2 = sufficientScopes(access.scopes, method).map((scope) => ({ oauth2: [scope as string] }));
  if (access.schemes === 'all') return [{ bearerAuth: [] }, { basicAuth: [] }, { apiKeyAuth: [] }, ...oauth2];
  return [...oauth2, { bearerAuth: [] }];
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Adds servers, headers and examples, and extracts repeated schemas and responses. */
export function completeDocument(
  described: OpenApiDocument,
  addresses: Addresses,
  { deployment, implicitFlow }: Config,
): object {
  const document = JSON.parse(
    JSON.stringify(described, (key, value: unknown) =>
      INTERNAL_KEYWORDS.has(key) ? undefined : isSchema(value) ? toDescribedSchema(value) : value,
    ),
  ) as OpenApiDocument;
  const { baseUrl, baseUrlFedramp, clientBaseUrl, errorTypeBase } = addresses;
  const commercial = { url: baseUrl, description: 'V1, commercial deployment' };
  const fedramp = { url: baseUrlFedramp, description: 'V1, government-cloud deployment' };
  // The documentation page calls the first server by default, which is the deployment itself.
  const v1 = deployment === 'fedramp' ? [fedramp, commercial] : [commercial, fedramp];
  const client = { url: clientBaseUrl, description: 'Every other area' };
  const { components } = document;
  components.securitySchemes = securitySchemes(addresses, implicitFlow);
  components.headers = SHARED_HEADERS;
  const schemas = (components.schemas ??= {});
  const responses = (components.responses ??= {});

  const paths: Record<string, object> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    const area = areaOfPath(path);
    for (const operation of Object.values(item)) {
      for (const media of Object.values(operation.requestBody?.content ?? {})) {
        addExample(media);
        media.schema = extractComponents(media.schema, schemas);
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        response.headers = { ...response.headers, ...responseHeaders(Number(status)) };
        for (const media of Object.values(response.content ?? {})) {
          if (Number(status) < 400) addExample(media);
          else media.example ??= errorExample(area, Number(status), errorTypeBase);
          media.schema = extractComponents(media.schema, schemas);
        }
        if (Number(status) >= 400) {
          operation.responses[status] = extractResponse(area, status, response, responses);
        }
      }
    }
    paths[path] = { servers: area === AREAS.v1 ? v1 : [client], ...item };
  }
  const { openapi, info, tags } = document;
  return { openapi, info, servers: [client, ...v1], tags, paths, components };
}

const textHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string', maxLength: 2_048 },
  example,
});
const secondsHeader = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const SHARED_HEADERS = {
  RequestId: textHeader(
    'The id of the request, which is also in the log.',
    '0f8d1c7e-5b0e-4a53-9a55-0c3f6f0f6f10',
  ),
  RateLimit: textHeader('The remaining quota, and the seconds until it resets.', '"default";r=2999;t=60'),
  RateLimitPolicy: textHeader('The quota, as requests per window in seconds.', '"default";q=3000;w=60'),
  RetryAfter: secondsHeader('Seconds to wait before retrying.', 2),
  Challenge: textHeader(
    'The error of the credential, or the required scopes (RFC 6750).',
    'Bearer realm="assay", error="invalid_token"',
  ),
};

/** Headers of every response; without a rate limit, its headers are absent. */
function responseHeaders(status: number): Record<string, object> {
  const ref = (name: keyof typeof SHARED_HEADERS) => ({ $ref: `#/components/headers/${name}` });
  return {
    'X-Request-Id': ref('RequestId'),
    ...(status < 400 || status === 429
      ? { RateLimit: ref('RateLimit'), 'RateLimit-Policy': ref('RateLimitPolicy') }
      : {}),
    ...(status === 401 || status === 403 ? { 'WWW-Authenticate': ref('Challenge') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': ref('RetryAfter') } : {}),
  };
}

function addExample(media: MediaType): void {
  if (media.example === undefined && media.examples === undefined) media.example = exampleOf(media.schema);
}

/** Builds the error body by the code that sends it. */
function errorExample(area: Area, status: number, errorTypeBase: string): object {
  const kinds = Object.keys(PROBLEM_TYPES) as ProblemTypeName[];
  const matchingKinds = kinds.filter((kind) => PROBLEM_TYPES[kind].status === status);
  const kind =
    matchingKinds.find((name) => area === AREAS.assessment && name === 'group-not-found') ?? matchingKinds[0];
  const fieldErrors = status === 422 ? [{ property: 'name', message: 'is required' }] : [];
  const name = kind ?? 'internal-error';
  return problemBody(new Problem(name, `${PROBLEM_TYPES[name].title}.`, { fieldErrors }), area, {
    requestId: SHARED_HEADERS.RequestId.example,
    errorTypeBase,
  }).body;
}

/**
 * Turns each schema with a title into a component of that name.
 * @throws Error when two schemas have one title
 */
function extractComponents(
  schema: DescribedSchema,
  schemas: Record<string, DescribedSchema>,
): DescribedSchema {
  return mapSchema(schema as JsonSchema, (part: DescribedSchema) => {
    if (part.title === undefined) return part as JsonSchema;
    const name = toPascalCase(part.title);
    const existing = (schemas[name] ??= part);
    if (JSON.stringify(existing) !== JSON.stringify(part))
      throw new Error(`Two schemas have the title ${part.title}.`);
    return { $ref: `#/components/schemas/${name}` };
  }) as DescribedSchema;
}

/** Turns an error response into a component of its area, unless it differs from the default of the area. */
function extractResponse(
  area: Area,
  status: string,
  response: DocumentedResponse,
  responses: Record<string, DocumentedResponse>,
): DocumentedResponse {
  const name = toPascalCase(`${area.name} ${STATUS_CODES[status] ?? status}`);
  const existing = (responses[name] ??= response);
  if (JSON.stringify(existing) !== JSON.stringify(response)) return response;
  return { $ref: `#/components/responses/${name}` } as DocumentedResponse;
}

function toPascalCase(words: string): string {
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/**
 * Converts a schema of the server to that of the API description. The server uses schemas with several types, so that
 * the validator can name the failing member; generators of clients do not support them. They also fail on length limits
 * of files and enumerations, and on enumerations that contain null.
 */
function toDescribedSchema(schema: JsonSchema): JsonSchema {
  const { [DESCRIBED]: rules, ...ownKeywords } = schema;
  return splitTypes(withoutLimits({ ...ownKeywords, ...(rules as JsonSchema | undefined) }));
}

function withoutLimits(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['enum']) && schema['format'] !== 'binary') return schema;
  const { minLength: _shortest, maxLength: _longest, ...unlimited } = schema;
  return unlimited;
}

/** Splits an enumeration that may be null, and an object that may be something else, into alternatives. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const { type, enum: values, properties, required, title, description, examples, ...rest } = schema;
  if (!Array.isArray(type) || (values === undefined && properties === undefined)) return schema;
  const annotations = { description, examples };
  const anyOf = (type as string[]).map((typeName) => {
    if (typeName === 'null') return { type: typeName };
    if (typeName === 'object') return { type: typeName, properties, required, title };
    return {
      ...rest,
      type: typeName,
      enum: (values as unknown[] | undefined)?.filter((value) => value !== null),
    };
  });
  return { ...annotations, anyOf };
}
