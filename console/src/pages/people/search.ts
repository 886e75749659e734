import type { PeopleSearch, PersonState } from '../../queries/people.ts';

const STATE_NAMES: readonly string[] = ['active', 'invited', 'banned'] satisfies PersonState[];

/** Reads the list's address; what is none of its parameters is left out. */
export function parsePeopleSearch({
  search,
  state,
  organization_uid,
}: Record<string, unknown>): PeopleSearch {
  const organizations = organization_uid === undefined ? [] : [organization_uid].flat().map(String);
  return {
    ...(typeof search === 'string' && search !== '' ? { search } : {}),
    // An address has a number where one was searched for.
    ...(typeof search === 'number' ? { search: String(search) } : {}),
    ...(STATE_NAMES.includes(String(state)) ? { state: state as PersonState } : {}),
    ...(organizations.length === 0 ? {} : { organization_uid: organizations }),
  };
}
