import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { type TSchema, Type } from 'typebox';
import type { List, ListRequest, RowBatch } from '../../domain/lists/list.ts';
import type { Filters, ListContext } from '../../domain/lists/filters.ts';
import { readBatches } from '../../domain/lists/read-batches.ts';
import type { RowPosition, SortColumn } from '../../domain/lists/sort-order.ts';
import type { Context } from '../../context.ts';
import type { Reservation } from '../../lib/memory-budget.ts';
import { COMPRESSOR_MEMORY } from '../compression.ts';
import { OperationResult } from '../operation-result.ts';
import { Problem } from '../problems.ts';
import { streamResponse, watchRights } from '../streams.ts';
import type { PaginationStyle } from './parameters.ts';
import { linkHeaders, linkPrefix, NEXT_CURSOR_HEADER, pageCount, pageLinks } from './page-links.ts';
import { streamJson, toJsonArray } from './row-serializers.ts';

const MAX_CURSOR_LENGTH = 8_192;
/** Bytes of large columns above which a page is streamed in pieces. */
const MAX_TEXT_BYTES = 256 * 1024;
/** Bytes that a page takes while it is read: a batch as rows, as items and as text, and the next one. */
export const PAGE_MEMORY = 8 * 1024 * 1024;

export function pageParameters(style: PaginationStyle, cursorOnly: boolean): Record<string, TSchema> {
  const { default: defaultSize, max } = style.pageSize;
  return {
    ...(cursorOnly
      ? {}
      : {
          [style.pageParameter]: Type.Optional(
            Type.Integer({
              minimum: 1,
              default: 1,
              description: 'Page number, starting at 1. A page past the last one is empty.',
            }),
          ),
        }),
    [style.sizeParameter]: Type.Optional(
      style.clampsPageSize
        ? Type.Integer({
            minimum: 1,
            default: defaultSize,
            description: `Values above ${max} are treated as ${max}.`,
          })
        : Type.Integer({ minimum: 1, maximum: max, default: defaultSize }),
    ),
    [style.cursorParameter]: Type.Optional(
      Type.String({
        maxLength: MAX_CURSOR_LENGTH,
        description: cursorOnly
          ? 'The cursor from the link to the next page.'
          : 'An empty value, or the cursor from the link to the next page. Reading by cursor costs the same at any depth and does not count the rows.',
      }),
    ),
  };
}

const countHeader = (description: string) => ({ description, type: 'integer' });
const LINK_HEADERS = {
  Link: {
    description:
      'Links to other pages (RFC 8288), which repeat the query. If they exceed 2 KiB, the next page alone; absent if even that exceeds 8 KiB.',
    type: 'string',
    maxLength: 8_192,
  },
  [NEXT_CURSOR_HEADER]: {
    description:
      'The cursor of the next page, or its number for a page by number. Only if Link is too long; repeat the request with it.',
    type: 'string',
    maxLength: MAX_CURSOR_LENGTH,
  },
};

export function pageHeaders(style: PaginationStyle, cursorOnly: boolean): Record<string, object> {
  if (cursorOnly) return LINK_HEADERS;
  if (style.combinesHeaders) {
    const description =
      'A JSON object with current_page, per_page, total_pages and total_entries. Absent when reading by cursor.';
    return { 'X-Pagination': { description, type: 'string', maxLength: 256 }, ...LINK_HEADERS };
  }
  return {
    'Pagination-Limit': countHeader('The page size.'),
    'Pagination-Current-Page': countHeader(
      'The page number. Absent when reading by cursor, like the next two.',
    ),
    'Pagination-Total-Pages': countHeader('The number of pages, at least 1.'),
    'Pagination-Total-Count': countHeader('The number of rows over all pages.'),
    ...LINK_HEADERS,
  };
}

interface PageRequest<Item, F extends Filters, O extends string> {
  style: PaginationStyle;
  list: List<Item, F, O>;
  listContext: ListContext;
  listRequest: ListRequest<F, O>;
  values: Readonly<Record<string, unknown>>;
  cursorOnly: boolean;
  toRow(item: Item): object;
  /** A reservation of `PAGE_MEMORY`. */
  memory: Pick<Reservation, 'shrinkTo'>;
}

/** Where a page starts, and its headers. */
interface PageWindow<Item> {
  start: RowPosition | number;
  limit: number;
  /** The number of rows of the list; absent for a page by cursor. */
  total?: number;
  headers: Record<string, string>;
  /**
   * @returns the headers that lead to the next page; `batch` is the only batch of the page, or absent if there are
   *   several
   */
  nextHeaders?(batch?: RowBatch<Item>): Promise<Record<string, string>>;
}

/** Reads a page by number or by cursor. A page of several batches or of large rows is streamed. */
export async function sendPage<Item, F extends Filters, O extends string>(
  context: Context,
  request: Pick<FastifyRequest, 'isLive' | 'method' | 'url'>,
  reply: FastifyReply,
  requested: PageRequest<Item, F, O>,
): Promise<OperationResult<never> | Readable> {
  const page = { ...requested, listContext: await requested.list.prepare(requested.listContext) };
  const { style, list, listContext, listRequest, values, cursorOnly, toRow, memory } = page;
  const { method, url, isLive } = request;
  const base = context.addresses.clientBaseUrl;
  const window =
    cursorOnly || values[style.cursorParameter] !== undefined
      ? cursorWindow(page, base, url)
      : await numberedWindow(page, base, url);
  reply.headers(window.headers).type('application/json; charset=utf-8');
  const batches = readBatches(list, listContext, listRequest, window.start, window.limit, window.total);
  const first = await batches.next();
  // Most pages are read in one batch.
  const isComplete = first.done === true || first.value.rows === window.limit || !first.value.hasMore;
  if (first.done !== true)
    reply.headers((await window.nextHeaders?.(isComplete ? first.value : undefined)) ?? {});
  if (first.done === true || (isComplete && first.value.bytes <= MAX_TEXT_BYTES)) {
    const text = await toJsonArray(first.done === true ? [] : first.value.items, toRow);
    memory.shrinkTo(2 * text.length);
    return new OperationResult<never>(undefined, null, {}, { text });
  }
  if (method === 'HEAD') {
    await batches.return(undefined);
    return Readable.from([]);
  }
  if (isComplete) memory.shrinkTo(COMPRESSOR_MEMORY + MAX_TEXT_BYTES + 4 * first.value.bytes);
  const timeout = context.config.requestTimeout;
  const mayGoOn = await watchRights(context.db.read, listContext.caller, isLive);
  return streamResponse(streamJson(first.value, batches, toRow), { timeout, isLive: mayGoOn });
}

function pageSize(
  { pageSize: { default: defaultSize, max }, sizeParameter }: PaginationStyle,
  values: object,
) {
  const size = (values as Readonly<Record<string, number | undefined>>)[sizeParameter];
  return Math.min(size ?? defaultSize, max);
}

async function numberedWindow<Item, F extends Filters, O extends string>(
  { style, list, listContext, listRequest, values }: PageRequest<Item, F, O>,
  base: string,
  url: string,
): Promise<PageWindow<Item>> {
  const page = (values[style.pageParameter] as number | undefined) ?? 1;
  const size = pageSize(style, values);
  const total = await list.count(listContext, listRequest.filters);
  const pages = pageCount(total, size);
  const { prev, next, first, last } = pageLinks(base, url, page, pages, style.pageParameter);
  const start = (page - 1) * size;
  return {
    start,
    limit: start >= total ? 0 : size,
    total,
    headers: {
      ...(style.combinesHeaders
        ? {
            'x-pagination': `{"current_page":${BigInt(page)},"per_page":${size},"total_pages":${Math.max(1, pages)},"total_entries":${total}}`,
          }
        : {
            'pagination-limit': String(size),
            'pagination-current-page': String(BigInt(page)),
            'pagination-total-pages': String(Math.max(1, pages)),
            'pagination-total-count': String(total),
          }),
      ...linkHeaders({ first, prev, next, last }, next === undefined ? undefined : String(page + 1)),
    },
  };
}

function cursorWindow<Item, F extends Filters, O extends string>(
  { style, list, listContext, listRequest, values }: PageRequest<Item, F, O>,
  base: string,
  url: string,
): PageWindow<Item> {
  const { name, sorts, idType } = list;
  const limit = pageSize(style, values);
  const scope = { list: name, listRequest, column: sorts[listRequest.sort], idType };
  const cursor = (values[style.cursorParameter] as string | undefined) ?? '';
  const start = cursor === '' ? 0 : decodeCursor(scope, cursor, style.cursorParameter);
  return {
    start,
    limit,
    headers: style.combinesHeaders ? {} : { 'pagination-limit': String(limit) },
    async nextHeaders(batch) {
      const [last, hasMore] =
        batch === undefined
          ? await list.positions(listContext, listRequest, start, limit - 1, 2)
          : [batch.last, batch.hasMore];
      if (last === undefined || !hasMore) return {};
      const next = encodeCursor(scope, last);
      return linkHeaders({ next: linkPrefix(base, url, style.cursorParameter) + next }, next);
    },
  };
}

/** A cursor is valid only for the list, filters and sort order it was made for. */
interface CursorScope {
  list: string;
  listRequest: ListRequest;
  column: SortColumn;
  idType: 'integer' | 'text';
}

function encodeCursor(scope: CursorScope, { value, id }: RowPosition): string {
  return Buffer.from(JSON.stringify([fingerprint(scope), value, id])).toString('base64url');
}

/**
 * @param source the parameter with the cursor
 * @throws Problem `invalid-request` for an invalid cursor, and for one of another list, filter or sort order
 */
function decodeCursor(scope: CursorScope, cursor: string, source: string): RowPosition {
  const position = parseCursor(cursor);
  if (
    position === undefined ||
    position.digest !== fingerprint(scope) ||
    !hasType(position.value, scope.column) ||
    !hasType(position.id, { type: scope.idType })
  )
    throw new Problem(
      'invalid-request',
      `${source} is not a cursor of this list with these filters and this sort order. Start again with an empty cursor.`,
      { source, fieldErrors: [{ property: source, message: 'is not a cursor of this list', value: cursor }] },
    );
  return { value: position.value as RowPosition['value'], id: position.id as RowPosition['id'] };
}

function parseCursor(cursor: string): { digest: unknown; value: unknown; id: unknown } | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 3) return undefined;
    const [digest, value, id] = parts as [unknown, unknown, unknown];
    return { digest, value, id };
  } catch {
    return undefined;
  }
}

function hasType(value: unknown, { type, nullable = false }: Pick<SortColumn, 'type' | 'nullable'>): boolean {
  if (value === null) return nullable;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'real') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function fingerprint({ list, listRequest: { filters, sort, descending } }: CursorScope): string {
  const active = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([list, active, sort, descending]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
