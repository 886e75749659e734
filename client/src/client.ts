import createFetchClient, {
  type Client as FetchClient,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch';
import { readError } from './errors.ts';
import { firstPageQuery, nextPageQuery, type RowOf, extractRows } from './pagination.ts';
import { type TransportOptions, createTransport } from './transport.ts';

export { expandAddressRange, type ExpandedRange, MAX_RANGE_ADDRESSES } from './address-ranges.ts';
export { hueOf, initialsOf } from './identity-marks.ts';
export { AssayError, type FieldError } from './errors.ts';
export type { Transport } from './transport.ts';

export interface ClientOptions extends TransportOptions {
  /** URL of the server: `https://assay.example.com`. */
  server: string;
}

type Json = 'application/json';
type HttpMethod = 'get' | 'put' | 'post' | 'patch' | 'delete';
type PathsWith<Paths extends {}, M extends HttpMethod> = {
  [Path in keyof Paths]: Paths[Path] extends { [Name in M]: unknown } ? Path : never;
}[keyof Paths];
/** Optional unless it has a required member. */
type InitParam<Init> = {} extends Init ? [init?: Init] : [init: Init];
type Succeeded<Response> = Extract<Response, { data: unknown }>;

/** Calls an operation by its path in the API description. @throws AssayError for an error response */
type Method<Paths extends {}, M extends HttpMethod> = <
  Path extends PathsWith<Paths, M>,
  Init extends MaybeOptionalInit<Paths[Path], M & keyof Paths[Path]>,
>(
  path: Path,
  ...init: InitParam<Init>
) => Promise<Succeeded<FetchResponse<Paths[Path][M & keyof Paths[Path]] & {}, Init, Json>>>;

/** The response body of a list. */
type ListBody<Paths extends {}, Path extends keyof Paths, Init> = Succeeded<
  FetchResponse<Paths[Path]['get' & keyof Paths[Path]] & {}, Init, Json>
>['data'];

export interface Client<Paths extends {}> {
  GET: Method<Paths, 'get'>;
  PUT: Method<Paths, 'put'>;
  POST: Method<Paths, 'post'>;
  PATCH: Method<Paths, 'patch'>;
  DELETE: Method<Paths, 'delete'>;
  /**
   * Iterates over all rows of a list, page by page: with a cursor if the list has one, else by links to the next page.
   * @throws AssayError for an error response
   */
  rows<
    Path extends PathsWith<Paths, 'get'>,
    Init extends MaybeOptionalInit<Paths[Path], 'get' & keyof Paths[Path]>,
  >(
    path: Path,
    ...init: InitParam<Init>
  ): AsyncGenerator<RowOf<ListBody<Paths, Path, Init>>, void, undefined>;
}

/** Creates a client for the `Paths` that openapi-typescript generates. */
export function createTypedClient<Paths extends {}>(options: ClientOptions): Client<Paths> {
  const client = createFetchClient<AnyPaths, Json>({
    baseUrl: options.server.replace(/\/+$/, ''),
    fetch: createTransport(options),
  });
  client.use({
    async onResponse({ response }) {
      if (!response.ok) throw await readError(response);
    },
  });
  return {
    ...client,
    POST: (path: string, init?: { body?: unknown }) =>
      // `Client` has checked the path and the body against `Paths`, of which this file knows only `AnyPaths`.
      client.POST(path as never, asUpload(options, init) as never),
    rows: (path: string, init?: AnyInit) => paginate(client, path, init),
  } as object as Client<Paths>;
}

/** A form gets its own transport, which can send it again. */
function asUpload(options: TransportOptions, init?: { body?: unknown }): object | undefined {
  return init?.body instanceof FormData ? { fetch: createTransport(options, init.body), ...init } : init;
}

/** The operations as this file calls them. */
interface AnyOperation {
  parameters: { path?: Record<string, string>; query?: Record<string, unknown> };
  responses: { 200: { content: { [Type in Json]: unknown } } };
}
type AnyPaths = Record<string, { get: AnyOperation }>;
interface AnyInit {
  params?: AnyOperation['parameters'];
}

async function* paginate(
  client: FetchClient<AnyPaths, Json>,
  path: string,
  init: AnyInit = {},
): AsyncGenerator<unknown, void, undefined> {
  let query = firstPageQuery(path, init.params?.query ?? {});
  for (;;) {
    const { data, response } = await client.GET(path, { ...init, params: { ...init.params, query } });
    yield* extractRows(data);
    const next = nextPageQuery(response, data, query);
    if (next === undefined) return;
    query = { ...query, ...next };
  }
}
