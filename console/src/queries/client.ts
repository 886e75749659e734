import type { paths, Vulnerability, VulnerabilityRights } from '../../../client/src/openapi-types.ts';
import { AssayError, createTypedClient } from '../../../client/src/client.ts';
import { nextPageQuery } from '../../../client/src/pagination.ts';
import { sendWithToken } from '../session/access-token.ts';

export type {
  Asset,
  Assessment,
  AssessmentGroup,
  AuditEvent,
  VulnerabilityComment,
  ImportJob,
  ListedUser,
  OwnUser,
  Retest,
  TestingSession,
  TimelineEntry,
  Vulnerability,
  VulnerabilityRights,
} from '../../../client/src/openapi-types.ts';
export { AssayError };

/** A vulnerability as operation 16 returns it. */
export type VulnerabilityWithRights = Vulnerability & { may: VulnerabilityRights };

/** API client with the session's access token. */
export const api = createTypedClient<paths>({
  server: location.origin,
  maxRetryDelay: 10,
  fetch: (request) =>
    sendWithToken((token) => {
      const attempt = request.clone();
      attempt.headers.set('authorization', `Bearer ${token}`);
      return fetch(attempt);
    }),
});

/** A page of a cursor-paginated list. */
export interface CursorPage<Row> {
  rows: readonly Row[];
  /** Cursor of the next page; undefined on the last. */
  next: string | undefined;
  /** The number of rows over all pages; 0 if it was read by cursor. */
  total?: number;
}

/** @returns the parameter of a page: its number if there is one, else its cursor */
export const pageStart = (
  cursor: string,
  number: number | undefined,
  numberParameter = 'page[number]',
): Record<string, string | number> =>
  number === undefined ? { 'page[after]': cursor } : { [numberParameter]: number };

/** Parses a page. */
export function parsePage<Row>({
  data,
  response,
}: {
  data: readonly Row[];
  response: Response;
}): CursorPage<Row> {
  const next = nextPageQuery(response, [], { 'page[after]': '' })?.['page[after]'];
  return { rows: data, next, total: parseTotal(response) };
}

/** Parses the total of a list; only responses without cursor have it. */
export function parseTotal({ headers }: Response): number {
  const pagination = headers.get('x-pagination');
  return pagination === null
    ? Number(headers.get('pagination-total-count'))
    : (JSON.parse(pagination) as { total_entries: number }).total_entries;
}
