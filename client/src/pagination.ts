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
 * Returns the query parameters that lead to the next page; `undefined` on the last page. Ignores the rest of a link, so
 * that the token is only sent to the configured server.
 * @param query the query of the page in the response
 */
export function nextPageQuery(
  response: Response,
  body: unknown,
  query: Readonly<Record<string, unknown>>,
): Record<string, string> | undefined {
  const { links, metadata } = (Array.isArray(body) ? {} : (body ?? {})) as LinkedBody;
  const next = linkHeader(response, 'next') ?? links?.next ?? metadata?.pagination?.next;
  if (next !== undefined) {
    const { searchParams } = new URL(next, 'http://any.invalid');
    return Object.fromEntries([...searchParams].filter(([name]) => PAGE_PARAMETERS.includes(name)));
  }
  // The server sends this in place of a link that is too long for a header.
  const cursor = response.headers.get('x-next-cursor');
  const name = PAGE_PARAMETERS.find((parameter) => query[parameter] !== undefined);
  return cursor === null || name === undefined ? undefined : { [name]: cursor };
}

/** Returns the URL of a relation in the `Link` header (RFC 8288). */
function linkHeader({ headers }: Response, relation: string): string | undefined {
  for (const [, url, parameters] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (new RegExp(`;\\s*rel="?${relation}"?`).test(parameters ?? '')) return url;
  return undefined;
}

/** Lists with cursors, which are equally fast at any depth. */
const CURSOR_PATHS = /^\/(?:v1|api\/(?:tagging|asset))\//;
/** A cursor takes precedence over a number. */
const PAGE_PARAMETERS = ['page[after]', 'page[number]', 'page'];

/** Returns the query of the first page: with a cursor if the list has cursors and the query names no page. */
export function firstPageQuery(
  path: string,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return CURSOR_PATHS.test(path) && !PAGE_PARAMETERS.some((name) => query[name] !== undefined)
    ? { ...query, 'page[after]': '' }
    : { ...query };
}
