import { omitUndefined, parseEnum, parseText, parseTexts } from '../../app/search-params.ts';
import type { PeopleSearch, PersonState } from '../../queries/people.ts';

export const PERSON_STATES: readonly PersonState[] = ['active', 'invited', 'banned'];

/** Parses the search parameters of the list and ignores invalid ones. */
export function parsePeopleSearch(given: Record<string, unknown>): PeopleSearch {
  return omitUndefined({
    search: parseText(given.search),
    // A person has only one state: the last selected one wins.
    state: parseEnum(given.state, PERSON_STATES)?.at(-1),
    organization_uid: parseTexts(given.organization_uid),
  });
}
