import { omitUndefined, parseText } from '../../app/search-params.ts';

/** Search parameters of the audit log: filters as in the API, and days in the browser's time zone. */
export interface AuditSearch {
  action?: string[];
  object_type?: string;
  object_id?: string;
  user_id?: number;
  request_id?: string;
  /** The first day: `2026-11-20`. */
  since?: string;
  /** The last day. */
  until?: string;
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

/** Parses the search parameters of the audit log and ignores invalid ones. */
export function parseAuditSearch(given: Record<string, unknown>): AuditSearch {
  const actions = [given.action ?? []].flat().filter((action) => typeof action === 'string');
  return omitUndefined({
    action: actions.length === 0 ? undefined : actions,
    object_type: parseText(given.object_type),
    object_id: parseText(given.object_id),
    request_id: parseText(given.request_id),
    since: isDay(given.since) ? given.since : undefined,
    until: isDay(given.until) ? given.until : undefined,
    user_id: Number.isInteger(given.user_id) ? Number(given.user_id) : undefined,
  });
}

/** A change of search parameters; `undefined` removes one. */
export type AuditSearchChange = { [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined };
