/** The type of the rows of a list: items of an array, or of the one array in an envelope. */
export type RowOf<Body> = Body extends readonly (infer Row)[]
  ? Row
  : Body extends { data: { attributes: infer Attributes } }
    ? RowIn<Attributes>
    : RowIn<Body>;

type RowIn<Envelope> = {
  [Name in keyof Envelope]-?: NonNullable<Envelope[Name]> extends readonly (infer Row)[] ? Row : never;
}[keyof Envelope];

/** Returns the rows of a list response. */
export function extractRows(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  const { data, ...rest } = (body ?? {}) as { data?: { attributes?: object } };
  const rows = Object.values(data?.attributes ?? rest).find((value) => Array.isArray(value));
  return (rows as unknown[] | undefined) ?? [];
}

interface LinkedBody {
  links?: { next?: string };
  metadata?: { pagination?: { next?: string } };
}

/**
 * Returns the query of the next page, without the question mark; `undefined` on the last page. Ignores the rest of the URL,
 * so that the token is only sent to the configured server.
 */
export function nextPageQuery(response: Response, body: unknown): string | undefined {
  const { links, metadata } = (Array.isArray(body) ? {} : (body ?? {})) as LinkedBody;
  const next = linkHeader(response, 'next') ?? links?.next ?? metadata?.pagination?.next;
  return next === undefined ? undefined : new URL(next, 'http://any.invalid').search.slice(1);
}

/** Returns the URL of a relation in the `Link` header (RFC 8288). */
function linkHeader({ headers }: Response, relation: string): string | undefined {
  for (const [, address, parameters] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (new RegExp(`;\\s*rel="?${relation}"?`).test(parameters ?? '')) return address;
  return undefined;
}

/** Lists with cursors, which are equally fast at any depth. */
const CURSOR_PATHS = /^\/(?:v1|api\/(?:tagging|asset))\//;
const PAGE_PARAMETERS = ['page', 'page[number]', 'page[after]'];

/** Returns the query of the first page: with a cursor if the list has cursors and the query names no page. */
export function firstPageQuery(
  path: string,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return CURSOR_PATHS.test(path) && !PAGE_PARAMETERS.some((name) => query[name] !== undefined)
    ? { ...query, 'page[after]': '' }
    : { ...query };
}
