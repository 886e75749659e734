import { Type } from 'typebox';

export const PageLinkSchema = Type.String({
  format: 'uri',
  // A base URL of 4 KiB, and a request line of 16 KiB, the maximum of Node.js.
  maxLength: 20_480,
  description: 'An absolute URL with the query of the request.',
});

/** URLs of a page and its neighbours. `prev` and `next` are absent at the ends. */
export interface PageLinks {
  self: string;
  first: string;
  last: string;
  prev?: string;
  next?: string;
}

/**
 * Returns the links of a page, which keep the query of the request except its page.
 * @param base base URL of the area
 * @param url path and query of the request
 * @param page number of the page, starting at 1; `prev` of a page past the end is the last page
 * @param parameter name of the page parameter
 */
export function pageLinks(
  base: string,
  url: string,
  page: number,
  totalPages: number,
  parameter = 'page',
): PageLinks {
  const start = linkPrefix(base, url, parameter);
  const last = Math.max(1, totalPages);
  return {
    // A BigInt writes a large number in digits, not with an exponent.
    self: start + BigInt(page),
    first: `${start}1`,
    last: start + last,
    ...(page > 1 ? { prev: start + Math.min(page - 1, last) } : {}),
    ...(page < totalPages ? { next: start + (page + 1) } : {}),
  };
}

/** Returns the URL of the request without this parameter, ending in `parameter=`. */
export function linkPrefix(base: string, url: string, parameter: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const parameters = mark < 0 ? [] : url.slice(mark + 1).split('&');
  const otherParameters = parameters.filter((part) => part !== '' && !isParameter(parameter, part));
  return `${base}${path}?${otherParameters.map((part) => `${part}&`).join('')}${encodeURIComponent(parameter)}=`;
}

/** A name may be percent-encoded, as in `p%61ge`. */
function isParameter(parameter: string, part: string): boolean {
  return part.startsWith(`${parameter}=`) || (part.includes('%') && new URLSearchParams(part).has(parameter));
}

/** Bytes of a `Link` header that proxies pass on with the rest of the head: nginx allows 4 KiB by default. */
const MAX_LINK_BYTES = 2 * 1024;
/** Bytes of a `Link` header with `next` alone: Node.js reads heads of up to 16 KiB. */
const MAX_NEXT_LINK_BYTES = 8 * 1024;

/** Has the cursor or the number of the next page if `Link` is too long. */
export const NEXT_CURSOR_HEADER = 'X-Next-Cursor';

/**
 * Each link repeats the query of the request, so a long query leaves room for the next page only, or for none.
 * @param position cursor or number of the next page
 * @returns `Link` (RFC 8288), or its substitute
 */
export function linkHeaders(
  links: Readonly<Record<string, string | undefined>> & { next?: string | undefined },
  position: string | undefined,
): Record<string, string> {
  const all = formatLinks(links);
  if (all.length <= MAX_LINK_BYTES) return all === '' ? {} : { link: all };
  const next = formatLinks({ next: links.next });
  if (next.length <= MAX_NEXT_LINK_BYTES) return next === '' ? {} : { link: next };
  return position === undefined ? {} : { [NEXT_CURSOR_HEADER.toLowerCase()]: position };
}

function formatLinks(links: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(links)
    .flatMap(([relation, address]) => (address === undefined ? [] : [`<${address}>; rel="${relation}"`]))
    .join(', ');
}

export function pageCount(total: number, perPage: number): number {
  return Math.ceil(total / perPage);
}
