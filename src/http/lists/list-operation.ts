import { Readable } from 'node:stream';
import { type Static, type TSchema, Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { recordExport } from '../../domain/audit/record-event.ts';
import type { ExportAction } from '../../domain/audit/actions.ts';
import type { FilterInput, Filters, ListContext } from '../../domain/lists/filters.ts';
import type { RowPosition } from '../../domain/lists/keyset.ts';
import { type List, type RowBatch, type ListRequest } from '../../domain/lists/define-list.ts';
import { readBatches } from '../../domain/lists/read-batches.ts';
import { encodeCursor, decodeCursor } from './cursors.ts';
import { acquireDownloadSlot, withCharset, LIST_MEDIA_TYPES, negotiateMediaType } from './download.ts';
import {
  IGNORED_HEADER,
  IgnoredParametersHeader,
  listUnknownParameters,
} from '../validation/unknown-properties.ts';
import { fieldsParameter, pickFields, parseFields } from './fields.ts';
import {
  filterParameters,
  type FilterDescription,
  PAGINATION_STYLES,
  sortParameters,
  parseFilters,
  parseSort,
} from './parameters.ts';
import { type Operation, operation, type OperationAccess } from '../operation.ts';
import { linkWithout, formatLinkHeader, pageLinks, pageCount } from './page.ts';
import { streamCsv, streamJson, streamNdjson, toJsonArray } from './row-serializers.ts';
import { streamResponse } from '../streams.ts';

interface ListOptions<
  Item,
  F extends Filters,
  O extends string,
  P extends TSchema | undefined,
  S extends TSchema,
> {
  id: string;
  number: number;
  summary: string;
  description: string;
  /** Relative to the prefix of the area. */
  path: string;
  access: OperationAccess;
  params?: P;
  style: keyof typeof PAGINATION_STYLES;
  list: List<Item, F, O>;
  /** The filters of the query with their descriptions. That of the organization is added by default. */
  filters?: { readonly [N in keyof F]?: FilterDescription };
  /** The sort columns that the query may choose. Defaults to none. */
  sorts?: readonly O[];
  defaultSort: { sort: O; descending?: boolean };
  /** Filters that follow from the path. Throws if the caller cannot see its object. */
  scope?(
    reading: ListContext,
    params: P extends TSchema ? Static<P> : undefined,
  ): Promise<FilterInput<F>> | FilterInput<F>;
  /** Schema of one row. */
  schema: S;
  toRow(item: Item, reading: ListContext): Static<S>;
  /** Allows `fields`. This field is always included. */
  fields?: { always: string };
  /** Allows CSV and NDJSON, and names the action of their audit event. */
  download?: { action: ExportAction; filename: string; sort?: { sort: O; descending?: boolean } };
  /** Whether the list can be read by cursor only, as a log. */
  cursorOnly?: boolean;
}

const MAX_ROWS = 5_000;
const MAX_CURSOR_LENGTH = 8_192;

/** Declares an operation that lists: its parameters, pages and description follow from the list. */
export function listOperation<
  Item,
  F extends Filters,
  O extends string,
  S extends TSchema,
  P extends TSchema | undefined = undefined,
>(context: Context, declared: ListOptions<Item, F, O, P, S>): Operation {
  const { list, defaultSort, sorts = [], cursorOnly = false, download, fields } = declared;
  const style = PAGINATION_STYLES[declared.style];
  const columns = Object.keys((declared.schema as { properties?: object }).properties ?? {});
  const parameters = filterParameters(style, list.filters, {
    ...declared.filters,
    // Elsewhere the path or the caller determines the organization.
    ...(declared.style === 'v1' && !('organizationUid' in (declared.filters ?? {}))
      ? { organizationUid: 'Return only rows of these organizations. For staff.' }
      : {}),
  });
  const query = Type.Object({
    ...pageParameters(declared.style, cursorOnly),
    ...Object.fromEntries([...parameters].map(([name, { schema }]) => [name, Type.Optional(schema)])),
    ...sortParameters(style, defaultSort, sorts),
    ...(fields === undefined ? {} : { fields: fieldsParameter(columns, fields.always) }),
  });

  const names = Object.keys(query.properties);
  // The brackets of a list parameter may be omitted; the page parameter is ignored where there are only cursors.
  const known = new Set([...names, ...names.map((name) => name.replace(/\[\]$/, '')), style.page]);

  return operation({
    ...declared,
    method: 'GET',
    list: { filters: [...parameters.keys()], sorts: sorts.map((order) => style.field(order)) },
    query,
    responses: {
      200: {
        description: 'A page of the list. A page past the last one is empty.',
        schema: Type.Array(declared.schema, { maxItems: MAX_ROWS }),
        headers: { ...pageHeaders(declared.style, cursorOnly), [IGNORED_HEADER]: IgnoredParametersHeader },
        ...(download === undefined ? {} : { otherTypes: LIST_MEDIA_TYPES.slice(1) }),
      },
    },
    async handler(request, reply) {
      const given = request.query as Readonly<Record<string, unknown>>;
      const { read, readLong } = context.db;
      const reading: ListContext = {
        db: read,
        slowReader: readLong,
        caller: request.caller,
        now: context.clock(),
      };
      const ignored = listUnknownParameters(known, given);
      if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
      const chosenFields = parseFields(given['fields'], columns, fields?.always);
      const filters = parseFilters(parameters, given) as FilterInput<F>;
      const within = await declared.scope?.(reading, request.params as never);
      const selection: ListRequest<F, O> = {
        filters: { ...filters, ...within },
        ...parseSort(style, defaultSort, sorts, given),
      };
      const row = (item: Item): object => pickFields(declared.toRow(item, reading) as object, chosenFields);

      const type = download === undefined ? 'application/json' : negotiateMediaType(request.headers.accept);
      if (download !== undefined && type !== 'application/json') {
        const { sort, descending = false } = download.sort ?? selection;
        const extension = type === 'text/csv' ? 'csv' : 'ndjson';
        const name = `attachment; filename="${download.filename}.${extension}"`;
        const send = (file: Readable): never => {
          reply.type(withCharset(type)).header('content-disposition', name);
          return file as never;
        };
        if (request.method === 'HEAD') return send(Readable.from([]));
        const onEnd = acquireDownloadSlot(context, String(request.caller.userId));
        try {
          const act = { actor: request.caller, now: reading.now };
          await context.db.write((tx) => recordExport(tx, act, download.action, { type, filters }));
          const all = readBatches(
            list,
            { ...reading, db: readLong },
            { ...selection, sort, descending },
            0,
            Infinity,
          );
          const lines =
            type === 'text/csv' ? streamCsv(all, row, chosenFields ?? columns) : streamNdjson(all, row);
          return send(
            streamResponse(lines, {
              timeout: context.config.requestTimeout,
              isLive: request.isLive,
              onEnd,
            }),
          );
        } catch (error) {
          onEnd();
          throw error;
        }
      }
      const base = context.addresses.clientBaseUrl;
      const window = cursorOnly || given[style.after] !== undefined ? readCursor() : await readPage();
      reply.headers(window.headers).type(withCharset('application/json'));
      const pieces = readBatches(list, reading, selection, window.start, window.limit);
      const first = await pieces.next();
      // Most pages are read in one batch.
      if (first.done === true || window.limit <= list.batchSize || !first.value.more) {
        const next = first.done === true ? undefined : await window.next?.(first.value);
        if (next !== undefined) reply.header('link', next);
        return (await toJsonArray(first.done === true ? [] : first.value.items, row)) as never;
      }
      const behind = await window.next?.();
      if (behind !== undefined) reply.header('link', behind);
      return streamResponse(streamJson(first.value, pieces, row), {
        timeout: context.config.requestTimeout,
        isLive: request.isLive,
      }) as never;

      async function readPage(): Promise<PageWindow<Item>> {
        const page = (given[style.page] as number | undefined) ?? 1;
        const size = Math.min(
          (given[style.size] as number | undefined) ?? style.sizes.usual,
          style.sizes.largest,
        );
        const total = await list.count(reading, selection.filters);
        const pages = pageCount(total, size);
        const { prev, next, first: firstLink, last } = pageLinks(base, request.url, page, pages, style.page);
        const start = (page - 1) * size;
        return {
          start,
          limit: start >= total ? 0 : size,
          headers: {
            ...(declared.style === 'v1'
              ? {
                  'x-pagination': `{"current_page":${BigInt(page)},"per_page":${size},"total_pages":${Math.max(1, pages)},"total_entries":${total}}`,
                }
              : {
                  'pagination-limit': String(size),
                  'pagination-current-page': String(BigInt(page)),
                  'pagination-total-pages': String(Math.max(1, pages)),
                  'pagination-total-count': String(total),
                }),
            link: formatLinkHeader({ first: firstLink, prev, next, last }),
          },
        };
      }

      function readCursor(): PageWindow<Item> {
        const size = Math.min(
          (given[style.size] as number | undefined) ?? style.sizes.usual,
          style.sizes.largest,
        );
        const { name, sorts: orders, idType } = list;
        const of = { list: name, selection, order: orders[selection.sort], idType };
        const cursor = (given[style.after] as string | undefined) ?? '';
        const start = cursor === '' ? 0 : decodeCursor(of, cursor, style.after);
        return {
          start,
          limit: size,
          headers: declared.style === 'v1' ? {} : { 'pagination-limit': String(size) },
          async next(piece) {
            const [last, more] =
              piece === undefined
                ? await list.positions(reading, selection, start, size - 1, 2)
                : [piece.last, piece.more];
            if (last === undefined || !more) return undefined;
            const address = linkWithout(base, request.url, style.after) + encodeCursor(of, last);
            return formatLinkHeader({ next: address });
          },
        };
      }
    },
  });
}

/** Where a page starts, and its headers. */
interface PageWindow<Item> {
  start: RowPosition | number;
  limit: number;
  headers: Record<string, string>;
  /** @returns the `Link` header to the next page, if any; `batch` is the last one if the page has only one */
  next?(piece?: RowBatch<Item>): Promise<string | undefined>;
}

function pageParameters(name: keyof typeof PAGINATION_STYLES, log: boolean): Record<string, TSchema> {
  const style = PAGINATION_STYLES[name];
  const { usual, largest } = style.sizes;
  return {
    ...(log
      ? {}
      : {
          [style.page]: Type.Optional(
            Type.Integer({
              minimum: 1,
              default: 1,
              description: 'Page number, starting at 1. A page past the last one is empty.',
            }),
          ),
        }),
    [style.size]: Type.Optional(
      style.cuts
        ? Type.Integer({
            minimum: 1,
            default: usual,
            description: `Values above ${largest} are treated as ${largest}.`,
          })
        : Type.Integer({ minimum: 1, maximum: largest, default: usual }),
    ),
    [style.after]: Type.Optional(
      Type.String({
        maxLength: MAX_CURSOR_LENGTH,
        description: log
          ? 'The cursor from the link to the next page.'
          : 'An empty value, or the cursor from the link to the next page. Reading by cursor costs the same at any depth and does not count the rows.',
      }),
    ),
  };
}

const countHeader = (description: string) => ({ description, type: 'integer' });
const LINK_HEADER = { description: 'Links to other pages (RFC 8288).', type: 'string', maxLength: 81_920 };

function pageHeaders(style: keyof typeof PAGINATION_STYLES, log: boolean): Record<string, object> {
  if (log) return { Link: LINK_HEADER };
  if (style === 'v1') {
    const description =
      'A JSON object with current_page, per_page, total_pages and total_entries. Absent when reading by cursor.';
    return { 'X-Pagination': { description, type: 'string', maxLength: 256 }, Link: LINK_HEADER };
  }
  return {
    'Pagination-Limit': countHeader('The page size.'),
    'Pagination-Current-Page': countHeader(
      'The page number. Absent when reading by cursor, like the next two.',
    ),
    'Pagination-Total-Pages': countHeader('The number of pages, at least 1.'),
    'Pagination-Total-Count': countHeader('The number of rows over all pages.'),
    Link: LINK_HEADER,
  };
}
