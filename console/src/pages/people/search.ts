import type { PeopleSearch, PersonState } from '../../queries/people.ts';

const STATE_NAMES: readonly string[] = ['active', 'invited', 'banned'] satisfies PersonState[];

/** Parses the search parameters of the list and ignores invalid ones. */
export function parsePeopleSearch({
  search,
  state,
  organization_uid,
}: Record<string, unknown>): PeopleSearch {
  const organizations = organization_uid === undefined ? [] : [organization_uid].flat().map(String);
  return {
    ...(typeof search === 'string' && search !== '' ? { search } : {}),
    // The router parses digits as a number.
    ...(typeof search === 'number' ? { search: String(search) } : {}),
    ...(STATE_NAMES.includes(String(state)) ? { state: state as PersonState } : {}),
    ...(organizations.length === 0 ? {} : { organization_uid: organizations }),
  };
}
