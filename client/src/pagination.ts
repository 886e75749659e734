/** The rows of a list's answer: an array, or the one array that an envelope holds. */
export type RowOf<Body> = Body extends readonly (infer Row)[]
  ? Row
  : Body extends { data: { attributes: infer Attributes } }
    ? RowIn<Attributes>
    : RowIn<Body>;

type RowIn<Envelope> = {
  [Name in keyof Envelope]-?: NonNullable<Envelope[Name]> extends readonly (infer Row)[] ? Row : never;
}[keyof Envelope];

/** @returns the rows of a list's answer */
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
 * @returns the query of the page after this one, without the question mark; `undefined` after the last. Only the query of
 *   its address is used: whatever the server calls itself, nothing but the server that was asked is sent a token.
 */
export function nextPageQuery(response: Response, body: unknown): string | undefined {
  const { links, metadata } = (Array.isArray(body) ? {} : (body ?? {})) as LinkedBody;
  const next = linkHeader(response, 'next') ?? links?.next ?? metadata?.pagination?.next;
  return next === undefined ? undefined : new URL(next, 'http://any.invalid').search.slice(1);
}

/** @returns the address of a relation of `Link` (RFC 8288) */
function linkHeader({ headers }: Response, relation: string): string | undefined {
  for (const [, address, parameters] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (new RegExp(`;\\s*rel="?${relation}"?`).test(parameters ?? '')) return address;
  return undefined;
}

/** The areas whose lists are read by cursor: such a page costs the same at any depth. */
const CURSOR_PATHS = /^\/(?:v1|api\/(?:tagging|asset))\//;
const PAGE_PARAMETERS = ['page', 'page[number]', 'page[after]'];

/** @returns the query of a list's first page: by cursor where the area has cursors and no page was asked for */
export function firstPageQuery(
  path: string,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return CURSOR_PATHS.test(path) && !PAGE_PARAMETERS.some((name) => query[name] !== undefined)
    ? { ...query, 'page[after]': '' }
    : { ...query };
}
