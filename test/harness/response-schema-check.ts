import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { mapSchema } from '../../src/http/validation/map-schema.ts';

export interface CheckedResponse {
  status: number;
  /** The value of `Content-Type`; `null` without one. */
  type: string | null;
  text: string;
}

interface Described {
  name: string;
  segments: readonly string[];
  method: string;
  responses: Record<string, any>;
}

/** A time with milliseconds, or in the older form with seconds. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3}Z|\+00:00)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EMAIL = /^[!-?A-~]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;
/** Absolute, and in ASCII (RFC 3986). */
const isUri = (text: string) => /^[a-z]+:[!-~]+$/.test(text) && URL.canParse(text);
const DATE = /^\d{4}-\d\d-\d\d$/;

export const DESCRIBED_FORMATS = {
  'date-time': DATE_TIME,
  date: DATE,
  uuid: UUID,
  email: EMAIL,
  uri: isUri,
  binary: true,
} as const;

/**
 * Validates responses against an API description: the status, the media type and the body, which may have described
 * properties only.
 * @returns a function that throws for an invalid response of a described operation
 */
export function createResponseCheck(
  document: any,
): (method: string, path: string, response: CheckedResponse) => void {
  // Optimizing the code of a schema takes longer than running it for a few responses.
  const ajv = new Ajv2020({
    strict: false,
    code: { optimize: false },
    formats: DESCRIBED_FORMATS,
  });
  ajv.addSchema({ $id: 'description', components: { schemas: closed(document.components.schemas) } });
  const operations = Object.entries<any>(document.paths).flatMap(
    ([path, { servers: _servers, ...methods }]) =>
      Object.entries<any>(methods).map(([method, { operationId, responses }]): Described => ({
        name: operationId,
        segments: path.split('/'),
        method: method.toUpperCase(),
        responses,
      })),
  );
  const byLength: Described[][] = [];
  for (const operation of operations) (byLength[operation.segments.length] ??= []).push(operation);
  const validators = new Map<unknown, ValidateFunction>();
  const validatorOf = (schema: any): ValidateFunction => {
    const cached = validators.get(schema);
    if (cached !== undefined) return cached;
    const validator = ajv.compile(absoluteReferences(closedOne(schema), 'description'));
    validators.set(schema, validator);
    return validator;
  };

  return (method, path, { status, type, text }) => {
    const pathSegments = path.split('?', 1)[0]?.split('/').map(decoded) ?? [];
    const candidates = (byLength[pathSegments.length] ?? []).filter(({ segments }) =>
      matchesPath(segments, pathSegments),
    );
    // Like the router, prefers a literal path segment to a parameter.
    const fewest = Math.min(...candidates.map(openSegments));
    const operation = candidates.find(
      (candidate) => candidate.method === method && openSegments(candidate) === fewest,
    );
    if (operation === undefined) return;
    const subject = `The answer ${status} of ${operation.name}`;
    const response = follow(document, operation.responses[status]);
    if (response === undefined) throw new Error(`${subject} is not in the API description.`);
    if (response.content === undefined) {
      if (text !== '') throw new Error(`${subject} is described without a body and has one: ${text}`);
      return;
    }
    // Files have any media type.
    if (response.content['application/octet-stream'] !== undefined) return;
    const media = response.content[type?.split(';', 1)[0] ?? ''];
    if (media === undefined) throw new Error(`${subject} has the type ${type}, which is not described.`);
    if (!/[/+]json$/.test(type?.split(';', 1)[0] ?? '')) return;
    // A request with `fields` gets rows without the other properties.
    const validate = validatorOf(
      status === 200 && /[?&]fields=/.test(path) ? chosenFields(document, media) : media.schema,
    );
    if (!validate(JSON.parse(text))) {
      throw new Error(`${subject} is not as described: ${ajv.errorsText(validate.errors)} in ${text}`);
    }
  };
}

/** @returns the schema with absolute references: the id of its document precedes each */
export function absoluteReferences(schema: any, id: string): any {
  return mapSchema(schema, (part) =>
    part['$ref'] === undefined ? part : { ...part, $ref: `${id}${part['$ref'] as string}` },
  );
}

const partial = new WeakMap<object, object>();

/** The schema of a list whose rows may lack fields. */
function chosenFields(document: any, media: any): any {
  const cached = partial.get(media);
  if (cached !== undefined) return cached;
  const { required: _required, ...row } = follow(document, media.schema.items);
  const rowSchema = { ...media.schema, items: row };
  partial.set(media, rowSchema);
  return rowSchema;
}

/** Forbids additional properties in every object. */
function closedOne(schema: any): any {
  const refs = (part: any): any =>
    part.properties === undefined || part.additionalProperties !== undefined
      ? part
      : { ...part, additionalProperties: false };
  return mapSchema(schema, refs);
}

function closed(schemas: Record<string, any>): Record<string, any> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closedOne(schema)]));
}

function follow(document: any, part: any): any {
  if (part?.$ref === undefined) return part;
  return (part.$ref as string)
    .split('/')
    .slice(1)
    .reduce((value, key) => value[key], document);
}

function openSegments({ segments }: Described): number {
  return segments.filter((segment) => segment.startsWith('{')).length;
}

function matchesPath(segments: readonly string[], pathSegments: readonly string[]): boolean {
  return segments.every((segment, index) => segment.startsWith('{') || segment === pathSegments[index]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
