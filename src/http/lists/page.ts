import { Type } from 'typebox';

/** The address of a page: as long as a request line can be. */
export const PageLinkSchema = Type.String({
  maxLength: 20_480,
  description: 'An absolute address that keeps the query.',
});

/** The addresses of a page and of those around it; `prev` and `next` are absent at the ends. */
export interface PageLinks {
  self: string;
  first: string;
  last: string;
  prev?: string;
  next?: string;
}

/**
 * The links of a page. They keep the query of the request and change only its `page`.
 * @param base what stands before the path: the area's public address
 * @param url the path and the query of the request
 * @param page the one that is answered, counted from 1; one past the end leads back to the last
 * @param parameter what the area calls it
 */
export function pageLinks(
  base: string,
  url: string,
  page: number,
  totalPages: number,
  parameter = 'page',
): PageLinks {
  const start = linkWithout(base, url, parameter);
  const last = Math.max(1, totalPages);
  return {
    // A number that is too large to be exact is still written out in digits.
    self: start + BigInt(page),
    first: `${start}1`,
    last: start + last,
    ...(page > 1 ? { prev: start + Math.min(page - 1, last) } : {}),
    ...(page < totalPages ? { next: start + (page + 1) } : {}),
  };
}

/** @returns the address of the request with all of its query but this parameter, up to the value that it gets anew */
export function linkWithout(base: string, url: string, parameter: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const kept = mark < 0 ? [] : url.slice(mark + 1).split('&');
  const others = kept.filter((part) => part !== '' && !isParameter(parameter, part));
  return `${base}${path}?${others.map((part) => `${part}&`).join('')}${encodeURIComponent(parameter)}=`;
}

/** A name may be written with escapes, as `p%61ge`. */
function isParameter(parameter: string, part: string): boolean {
  return part.startsWith(`${parameter}=`) || (part.includes('%') && new URLSearchParams(part).has(parameter));
}

/** @returns what `Link` says of the pages around one (RFC 8288) */
export function formatLinkHeader(links: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(links)
    .flatMap(([relation, address]) => (address === undefined ? [] : [`<${address}>; rel="${relation}"`]))
    .join(', ');
}

/** @returns how many pages of this size that many rows fill */
export function pageCount(total: number, perPage: number): number {
  return Math.ceil(total / perPage);
}
