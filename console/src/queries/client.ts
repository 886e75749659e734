import type { paths } from '../../../client/src/description.ts';
import { AssayError, createTypedClient } from '../../../client/src/client.ts';
import { accessToken, clearAccessToken } from '../session/access-token.ts';

export type {
  Asset,
  Assessment,
  AssessmentGroup,
  AuditEvent,
  Comment,
  ImportJob,
  ListedUser,
  OwnUser,
  Retest,
  TestingSession,
  TimelineEntry,
  Vulnerability,
} from '../../../client/src/description.ts';
export { AssayError };

/** The API as the console calls it: each call with a token of the session, asked for once more when it was refused. */
export const api = createTypedClient<paths>({
  server: location.origin,
  token: accessToken,
  maxRetryDelay: 10,
  async fetch(request) {
    const again = request.clone();
    const response = await fetch(request);
    if (response.status !== 401) return response;
    clearAccessToken();
    again.headers.set('authorization', `Bearer ${await accessToken()}`);
    return fetch(again);
  },
});

/** A page of a list that is read by cursor. */
export interface CursorPage<Row> {
  rows: readonly Row[];
  /** The cursor of the page after it; absent after the last. */
  next: string | undefined;
}

/** @returns the page that an answer to a request with `page[after]` holds */
export function parsePage<Row>({
  data,
  response,
}: {
  data: readonly Row[];
  response: Response;
}): CursorPage<Row> {
  const link = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1];
  const next = link === undefined ? null : new URL(link, location.origin).searchParams.get('page[after]');
  return { rows: data, next: next ?? undefined };
}

/** @returns how many rows all pages of a V1 list have, from an answer to a request without cursor */
export function parseTotal(response: Response): number {
  const told = response.headers.get('x-pagination');
  return told === null ? 0 : (JSON.parse(told) as { total_entries: number }).total_entries;
}

/** @returns how many rows all pages of a list of assets or their tags have, from an answer to a request without cursor */
export function parseAssetTotal(response: Response): number {
  return Number(response.headers.get('pagination-total-count') ?? 0);
}
