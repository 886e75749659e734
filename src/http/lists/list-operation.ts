import { Readable } from 'node:stream';
import { type Static, type TSchema, Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { recordExport } from '../../domain/audit/record-event.ts';
import type { ExportAction } from '../../domain/audit/actions.ts';
import type { Chosen, Filters, Reading } from '../../domain/lists/filters.ts';
import type { Place } from '../../domain/lists/keyset.ts';
import { type List, type Piece, type Selection } from '../../domain/lists/define-list.ts';
import { readPieces } from '../../domain/lists/read-batches.ts';
import { cursorAt, placeAt } from './cursors.ts';
import { beginDownload, inUtf8, MEDIA_TYPES, mediaTypeWanted } from './download.ts';
import {
  IGNORED_HEADER,
  IgnoredParametersHeader,
  ignoredParameters,
} from '../validation/unknown-properties.ts';
import { fieldsParameter, pick, readFields } from './fields.ts';
import {
  filterParameters,
  type FilterWords,
  LIST_STYLES,
  orderParameters,
  readFilters,
  readOrder,
} from './parameters.ts';
import { type Operation, operation, type OperationAccess } from '../operation.ts';
import { addressUpTo, linkHeader, pageLinks, pagesOf } from './page.ts';
import { csvOf, jsonOf, ndjsonOf, wholeText } from './row-serializers.ts';
import { streamAnswer } from '../streams.ts';

interface ListDeclaration<
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
  /** Below the prefix of the area. */
  path: string;
  access: OperationAccess;
  params?: P;
  /** How the area writes pages, filters and orders. */
  style: keyof typeof LIST_STYLES;
  list: List<Item, F, O>;
  /** The filters that the query has, each with what the description says of it. That of the organization need not be told. */
  filters?: { readonly [N in keyof F]?: FilterWords };
  /** The orders that the query may choose; none unless told. */
  sorts?: readonly O[];
  usualSort: { order: O; descending?: boolean };
  /** What narrows the list beside the query: what the path names. It throws when that is out of reach. */
  within?(
    reading: Reading,
    params: P extends TSchema ? Static<P> : undefined,
  ): Promise<Chosen<F>> | Chosen<F>;
  /** Of one row of the answer. */
  schema: S;
  /** @returns the row as the answer tells it */
  row(item: Item, reading: Reading): Static<S>;
  /** The fields that `fields` may choose from are those of the row; this one is always there. */
  fields?: { always: string };
  /** The action of the audit event where the list can be had as CSV and NDJSON; absent, it cannot. */
  download?: { action: ExportAction; filename: string; order?: { order: O; descending?: boolean } };
  /** Whether it is a log, which is read by cursor alone. */
  log?: boolean;
}

const MAX_ROWS = 5_000;
const MAX_CURSOR = 8_192;

/** Declares an operation that lists: its parameters, its pages and its description follow from the list. */
export function listOperation<
  Item,
  F extends Filters,
  O extends string,
  S extends TSchema,
  P extends TSchema | undefined = undefined,
>(context: Context, declared: ListDeclaration<Item, F, O, P, S>): Operation {
  const { list, usualSort, sorts = [], log = false, download, fields } = declared;
  const style = LIST_STYLES[declared.style];
  const columns = Object.keys((declared.schema as { properties?: object }).properties ?? {});
  const parameters = filterParameters(style, list.filters, {
    ...declared.filters,
    // An organization is named by the path or the caller where the list has no word for it.
    ...(declared.style === 'v1' && !('organizationUid' in (declared.filters ?? {}))
      ? { organizationUid: 'Of these organizations; for staff, who reach several.' }
      : {}),
  });
  const query = Type.Object({
    ...pageParameters(declared.style, log),
    ...Object.fromEntries([...parameters].map(([name, { schema }]) => [name, Type.Optional(schema)])),
    ...orderParameters(style, usualSort, sorts),
    ...(fields === undefined ? {} : { fields: fieldsParameter(columns, fields.always) }),
  });

  const names = Object.keys(query.properties);
  // A list may be named without its last brackets; a log has no page numbers, and may be asked for one.
  const known = new Set([...names, ...names.map((name) => name.replace(/\[\]$/, '')), style.page]);

  return operation({
    ...declared,
    method: 'GET',
    list: { parameters: [...parameters.keys()], sorts: sorts.map((order) => style.field(order)) },
    query,
    answers: {
      200: {
        description: 'A page of the list; one past the end is empty.',
        schema: Type.Array(declared.schema, { maxItems: MAX_ROWS }),
        headers: { ...pageHeaders(declared.style, log), [IGNORED_HEADER]: IgnoredParametersHeader },
        ...(download === undefined ? {} : { otherTypes: MEDIA_TYPES.slice(1) }),
      },
    },
    async handler(request, reply) {
      const given = request.query as Readonly<Record<string, unknown>>;
      const { read, readLong } = context.db;
      const reading: Reading = { db: read, long: readLong, caller: request.caller, now: context.clock() };
      const ignored = ignoredParameters(known, given);
      if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
      const chosenFields = readFields(given['fields'], columns, fields?.always);
      const filters = readFilters(parameters, given) as Chosen<F>;
      const within = await declared.within?.(reading, request.params as never);
      const selection: Selection<F, O> = {
        filters: { ...filters, ...within },
        ...readOrder(style, usualSort, sorts, given),
      };
      const row = (item: Item): object => pick(declared.row(item, reading) as object, chosenFields);

      const type = download === undefined ? 'application/json' : mediaTypeWanted(request.headers.accept);
      if (download !== undefined && type !== 'application/json') {
        const { order, descending = false } = download.order ?? selection;
        const extension = type === 'text/csv' ? 'csv' : 'ndjson';
        const name = `attachment; filename="${download.filename}.${extension}"`;
        const send = (file: Readable): never => {
          reply.type(inUtf8(type)).header('content-disposition', name);
          return file as never;
        };
        if (request.method === 'HEAD') return send(Readable.from([]));
        const onEnd = beginDownload(context, String(request.caller.userId));
        try {
          const act = { actor: request.caller, now: reading.now };
          await context.db.write((tx) => recordExport(tx, act, download.action, { type, filters }));
          const all = readPieces(
            list,
            { ...reading, db: readLong },
            { ...selection, order, descending },
            0,
            Infinity,
          );
          const lines = type === 'text/csv' ? csvOf(all, row, chosenFields ?? columns) : ndjsonOf(all, row);
          return send(
            streamAnswer(lines, {
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
      const window = log || given[style.after] !== undefined ? readCursor() : await readPage();
      reply.headers(window.headers).type(inUtf8('application/json'));
      const pieces = readPieces(list, reading, selection, window.start, window.limit);
      const first = await pieces.next();
      // Most pages are of one piece.
      if (first.done === true || window.limit <= list.piece || !first.value.more) {
        const next = first.done === true ? undefined : await window.next?.(first.value);
        if (next !== undefined) reply.header('link', next);
        return (await wholeText(first.done === true ? [] : first.value.items, row)) as never;
      }
      const behind = await window.next?.();
      if (behind !== undefined) reply.header('link', behind);
      return streamAnswer(jsonOf(first.value, pieces, row), {
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
        const pages = pagesOf(total, size);
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
            link: linkHeader({ first: firstLink, prev, next, last }),
          },
        };
      }

      function readCursor(): PageWindow<Item> {
        const size = Math.min(
          (given[style.size] as number | undefined) ?? style.sizes.usual,
          style.sizes.largest,
        );
        const { name, orders, idType } = list;
        const of = { list: name, selection, order: orders[selection.order], idType };
        const cursor = (given[style.after] as string | undefined) ?? '';
        const start = cursor === '' ? 0 : placeAt(of, cursor, style.after);
        return {
          start,
          limit: size,
          headers: declared.style === 'v1' ? {} : { 'pagination-limit': String(size) },
          async next(piece) {
            const [last, more] =
              piece === undefined
                ? await list.places(reading, selection, start, size - 1, 2)
                : [piece.last, piece.more];
            if (last === undefined || !more) return undefined;
            const address = addressUpTo(base, request.url, style.after) + cursorAt(of, last);
            return linkHeader({ next: address });
          },
        };
      }
    },
  });
}

/** Where a page is read, and what its headers say. */
interface PageWindow<Item> {
  start: Place | number;
  limit: number;
  headers: Record<string, string>;
  /** @returns the link to what comes next, when there is something; of a page of one piece it is told that */
  next?(piece?: Piece<Item>): Promise<string | undefined>;
}

function pageParameters(name: keyof typeof LIST_STYLES, log: boolean): Record<string, TSchema> {
  const style = LIST_STYLES[name];
  const { usual, largest } = style.sizes;
  return {
    ...(log
      ? {}
      : {
          [style.page]: Type.Optional(
            Type.Integer({
              minimum: 1,
              default: 1,
              description: 'Counted from 1. One past the end is an empty list.',
            }),
          ),
        }),
    [style.size]: Type.Optional(
      style.cuts
        ? Type.Integer({ minimum: 1, default: usual, description: `More than ${largest} is ${largest}.` })
        : Type.Integer({ minimum: 1, maximum: largest, default: usual }),
    ),
    [style.after]: Type.Optional(
      Type.String({
        maxLength: MAX_CURSOR,
        description: log
          ? 'The cursor that the link to the next page has.'
          : 'Empty, or the cursor that the link to the next page has: such pages cost the same at any depth, and nothing is counted.',
      }),
    ),
  };
}

const count = (description: string) => ({ description, type: 'integer' });
const LINK = { description: 'RFC 8288.', type: 'string', maxLength: 81_920 };

function pageHeaders(style: keyof typeof LIST_STYLES, log: boolean): Record<string, object> {
  if (log) return { Link: LINK };
  if (style === 'v1') {
    const description =
      'A JSON object of current_page, per_page, total_pages and total_entries; absent of pages by cursor.';
    return { 'X-Pagination': { description, type: 'string', maxLength: 256 }, Link: LINK };
  }
  return {
    'Pagination-Limit': count('The most rows of a page.'),
    'Pagination-Current-Page': count('Absent of pages by cursor, as the next two.'),
    'Pagination-Total-Pages': count('At least 1.'),
    'Pagination-Total-Count': count('How many rows there are in all.'),
    Link: LINK,
  };
}
