import { TAG_KINDS, type TagKind } from '../../queries/tags.ts';

/** Of the address of the tags. */
export interface TagsSearch {
  kind?: TagKind;
  search?: string;
  /** For staff: the uid of the one whose tags are shown. */
  organization?: string;
}

/** Reads the address of the tags; what is none of its parameters is left out. */
export function parseTagsSearch({ kind, search, organization }: Record<string, unknown>): TagsSearch {
  const text = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return {
    ...(TAG_KINDS.includes(kind as TagKind) ? { kind: kind as TagKind } : {}),
    ...(text(search) && search !== '' ? { search: String(search) } : {}),
    ...(text(organization) ? { organization: String(organization) } : {}),
  };
}
