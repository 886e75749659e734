import { TAG_KINDS, type TagKind } from '../../queries/tags.ts';

/** Search parameters of the tags page. */
export interface TagsSearch {
  kind?: TagKind;
  search?: string;
  /** Uid of the organization, set by staff. */
  organization?: string;
}

/** Parses the search parameters of the page and ignores invalid ones. */
export function parseTagsSearch({ kind, search, organization }: Record<string, unknown>): TagsSearch {
  const text = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return {
    ...(TAG_KINDS.includes(kind as TagKind) ? { kind: kind as TagKind } : {}),
    ...(text(search) && search !== '' ? { search: String(search) } : {}),
    ...(text(organization) ? { organization: String(organization) } : {}),
  };
}
