import { omitUndefined, parseEnum, parseTexts } from '../../app/search-params.ts';
import { IMPORT_STATES } from '../../queries/enums.ts';
import type { ImportSearch } from '../../queries/imports.ts';

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseImportSearch(given: Record<string, unknown>): ImportSearch {
  return omitUndefined({
    state: parseEnum(given.state, IMPORT_STATES),
    assessment_id: parseTexts(given.assessment_id),
    organization_uid: parseTexts(given.organization_uid),
    dry_runs: given.dry_runs === true ? true : undefined,
  });
}
