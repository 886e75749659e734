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
}

/** Parses a response to a request with `page[after]`. */
export function parsePage<Row>({
  data,
  response,
}: {
  data: readonly Row[];
  response: Response;
}): CursorPage<Row> {
  return { rows: data, next: nextPageQuery(response, [], { 'page[after]': '' })?.['page[after]'] };
}

/** Parses the total of a V1 list; only responses without cursor have it. */
export function parseTotal(response: Response): number {
  const pagination = response.headers.get('x-pagination');
  return pagination === null ? 0 : (JSON.parse(pagination) as { total_entries: number }).total_entries;
}

/** Parses the total of a list of assets or asset tags; only responses without cursor have it. */
export function parseAssetTotal(response: Response): number {
  return Number(response.headers.get('pagination-total-count') ?? 0);
}
