import { IMPORT_STATE_LABELS, type ImportSearch, type ImportState } from '../../queries/imports.ts';

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseImportSearch(given: Record<string, unknown>): ImportSearch {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const found: ImportSearch = {};
  const states = list('state').filter(
    (state): state is ImportState => typeof state === 'string' && Object.hasOwn(IMPORT_STATE_LABELS, state),
  );
  if (states.length > 0) found.state = states;
  for (const name of ['assessment_id', 'organization_uid'] as const) {
    const uids = list(name).map(String);
    if (uids.length > 0) found[name] = uids;
  }
  if (given.dry_runs === true) found.dry_runs = true;
  return found;
}
