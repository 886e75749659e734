import { Type } from 'typebox';

/** The address of a page: as long as a request line can be. */
export const PageLink = Type.String({
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
 */
export function pageLinks(base: string, url: string, page: number, totalPages: number): PageLinks {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const kept =
    mark < 0
      ? []
      : url
          .slice(mark + 1)
          .split('&')
          .filter((part) => part !== '' && !isPage(part));
  const start = `${base}${path}?${kept.map((part) => `${part}&`).join('')}page=`;
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

/** A name may be written with escapes, as `p%61ge`. */
function isPage(part: string): boolean {
  return part.startsWith('page=') || (part.includes('%') && new URLSearchParams(part).has('page'));
}

/** @returns how many pages of this size that many rows fill */
export function pagesOf(total: number, perPage: number): number {
  return Math.ceil(total / perPage);
}
