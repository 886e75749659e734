import { omitUndefined, parseEnum, parseText } from '../../app/search-params.ts';
import type { TagKind } from '../../queries/tags.ts';

/** Search parameters of the tags page. */
export interface TagsSearch {
  kind?: TagKind;
  search?: string;
  /** Uid of the organization, set by staff. */
  organization?: string;
}

const TAG_KINDS: readonly TagKind[] = ['vulnerability', 'assessment', 'asset'];

/** Parses the search parameters of the page and ignores invalid ones. */
export function parseTagsSearch({ kind, search, organization }: Record<string, unknown>): TagsSearch {
  return omitUndefined({
    kind: parseEnum(kind, TAG_KINDS)?.[0],
    search: parseText(search),
    organization: parseText(organization),
  });
}
