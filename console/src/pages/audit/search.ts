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

const TEXTS = ['object_type', 'object_id', 'request_id'] as const;
const DAYS = ['since', 'until'] as const;

/** Parses the search parameters of the audit log and ignores invalid ones. */
export function parseAuditSearch(given: Record<string, unknown>): AuditSearch {
  const found: AuditSearch = {};
  const actions = [given.action ?? []].flat().filter((action) => typeof action === 'string');
  if (actions.length > 0) found.action = actions;
  for (const name of TEXTS) {
    const value = given[name];
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') found[name] = String(value);
  }
  for (const name of DAYS) {
    const value = given[name];
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)))
      found[name] = value;
  }
  if (Number.isInteger(given.user_id)) found.user_id = Number(given.user_id);
  return found;
}

/** A change of search parameters; `undefined` removes one. */
export type AuditSearchChange = { [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined };
