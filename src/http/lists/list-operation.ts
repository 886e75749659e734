import { type Static, type TSchema, Type } from 'typebox';
import type { ExportAction } from '../../domain/audit/actions.ts';
import type { List, ListRequest } from '../../domain/lists/list.ts';
import type { FilterInput, Filters, ListContext } from '../../domain/lists/filters.ts';
import type { Context } from '../../context.ts';
import { reserveMemory } from '../account-limits.ts';
import { type Operation, operation, type OperationAccess } from '../operation.ts';
import {
  IGNORED_HEADER,
  IgnoredParametersHeader,
  listUnknownParameters,
} from '../validation/unknown-properties.ts';
import { LIST_MEDIA_TYPES, negotiateMediaType, sendDownload } from './download.ts';
import { PAGE_MEMORY, pageHeaders, pageParameters, sendPage } from './page.ts';
import { type FilterDescription, filterParameters, parseFilters } from './filter-parameters.ts';
import {
  fieldsParameter,
  layoutParameter,
  PAGINATION_STYLES,
  parseFields,
  parseSort,
  pickFields,
  SPREADSHEET,
  sortParameters,
} from './parameters.ts';

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
  /** The filters of the query with their descriptions. The style `v1` adds that of the organization. */
  filters?: { readonly [N in keyof F]?: FilterDescription };
  /** The sort columns that the query may choose. Defaults to none. */
  sorts?: readonly O[];
  defaultSort: { sort: O; descending?: boolean };
  /** Filters that follow from the path. Throws if the caller cannot see its object, or may not use a filter. */
  scope?(
    context: ListContext,
    params: P extends TSchema ? Static<P> : undefined,
    filters: FilterInput<F>,
  ): Promise<FilterInput<F>> | FilterInput<F>;
  /** Schema of one row. */
  schema: S;
  /** The properties of a row in an export; absent: all of the schema. */
  columns?: readonly string[];
  toRow(item: Item, context: ListContext): Static<S>;
  /** Allows `fields`. This field is always included. */
  fields?: { always: string };
  /** Allows CSV and NDJSON, and names the action of their audit event. */
  download?: { action: ExportAction; filename: string; sort?: { sort: O; descending?: boolean } };
  /** The CSV for spreadsheets, which `layout=spreadsheet` selects: its columns and the cells of a row. */
  spreadsheet?: {
    columns: readonly string[];
    toCells(item: Item, context: ListContext): Readonly<Record<string, string | number | null>>;
  };
  /** Whether a row contains a secret. */
  hasSecret?: true;
  /** Whether the list can be read by cursor only, as a log. */
  cursorOnly?: boolean;
}

const MAX_ROWS = 5_000;

/** Declares an operation that lists: its parameters, pages and description follow from the list. */
export function listOperation<
  Item,
  F extends Filters,
  O extends string,
  S extends TSchema,
  P extends TSchema | undefined = undefined,
>(context: Context, declared: ListOptions<Item, F, O, P, S>): Operation {
  const { list, defaultSort, sorts = [], cursorOnly = false, download, fields, spreadsheet } = declared;
  const style = PAGINATION_STYLES[declared.style];
  const { columns = Object.keys((declared.schema as { properties?: object }).properties ?? {}) } = declared;
  const parameters = filterParameters(style, list.filters, {
    ...declared.filters,
    // Elsewhere the path or the caller determines the organization.
    ...(declared.style === 'v1' && !('organizationUid' in (declared.filters ?? {}))
      ? { organizationUid: 'Return only rows of these organizations. For staff.' }
      : {}),
  });
  const query = Type.Object({
    ...pageParameters(style, cursorOnly),
    ...Object.fromEntries([...parameters].map(([name, { schema }]) => [name, Type.Optional(schema)])),
    ...sortParameters(style, defaultSort, sorts),
    ...(fields === undefined ? {} : { fields: fieldsParameter(columns, fields.always) }),
    ...(spreadsheet === undefined ? {} : { layout: layoutParameter(spreadsheet.columns) }),
  });

  const names = Object.keys(query.properties);
  // The brackets of a list parameter may be omitted; the page parameter is ignored where there are only cursors.
  const knownParameters = new Set([
    ...names,
    ...names.map((name) => name.replace(/\[\]$/, '')),
    style.pageParameter,
  ]);

  return operation({
    ...declared,
    method: 'GET',
    list: { filters: [...parameters.keys()], sorts: sorts.map((sort) => style.fieldName(sort)) },
    query,
    responses: {
      200: {
        description: 'A page of the list. A page past the last one is empty.',
        schema: Type.Array(declared.schema, { maxItems: MAX_ROWS }),
        headers: { ...pageHeaders(style, cursorOnly), [IGNORED_HEADER]: IgnoredParametersHeader },
        ...(download === undefined ? {} : { otherTypes: LIST_MEDIA_TYPES.slice(1) }),
      },
    },
    async handler(request, reply) {
      const values = request.query as Readonly<Record<string, unknown>>;
      const listContext: ListContext = {
        db: context.db.read,
        slowReader: context.db.abortableRead(request.abortState),
        caller: request.caller,
        now: context.clock(),
      };
      const ignored = listUnknownParameters(knownParameters, values);
      if (ignored !== '') reply.header(IGNORED_HEADER, ignored);
      const selectedFields = parseFields(values['fields'], columns, fields?.always);
      const filters = parseFilters(parameters, values) as FilterInput<F>;
      const toRow = (item: Item): object =>
        pickFields(declared.toRow(item, listContext) as object, selectedFields);
      const select = async () => {
        // The schema of the path validated the parameters.
        const scope = await declared.scope?.(listContext, request.params as never, filters);
        const listRequest: ListRequest<F, O> = {
          filters: { ...filters, ...scope },
          ...parseSort(style, defaultSort, sorts, values),
        };
        return { list, listContext, listRequest, toRow };
      };

      const type = download === undefined ? 'application/json' : negotiateMediaType(request.headers.accept);
      if (download === undefined || type === 'application/json') {
        // It may take long to get, so the rights of the caller are read afterwards.
        const memory = await reserveMemory(context, request, reply, PAGE_MEMORY);
        return sendPage(context, request, reply, { ...(await select()), style, values, cursorOnly, memory });
      }
      const isSpreadsheet =
        type === 'text/csv' && values['layout'] === SPREADSHEET && selectedFields === undefined;
      const layout =
        spreadsheet !== undefined && isSpreadsheet
          ? {
              columns: spreadsheet.columns,
              toRow: (item: Item) => spreadsheet.toCells(item, listContext),
            }
          : { columns: selectedFields ?? columns };
      return sendDownload(context, request, reply, {
        ...(await select()),
        ...download,
        type,
        ...layout,
        // The audit event omits the parameters of the path.
        filters,
      });
    },
  });
}
