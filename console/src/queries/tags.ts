import { queryOptions, useQueryClient, keepPreviousData } from '@tanstack/react-query';
import { api, type CursorPage, parsePage, parseTotal } from './client.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

export type TagKind = 'vulnerability' | 'assessment' | 'asset';

export interface TagRow {
  /** Id of a vulnerability or assessment tag, uid of an asset tag. */
  key: string;
  name: string;
  /** Visible objects with this tag. */
  count: number;
  /** Whether it can be renamed and deleted at all; built-in tags cannot. */
  editable: boolean;
}

/** Identifies the tags of one kind in one organization. */
export interface TagScope {
  kind: TagKind;
  /** Uid. */
  organizationUid: string;
}

const TAGS_KEY = ['tags'];
const ASSET_TAGS_PATH = '/api/tagging/v1.0/organizations/{orgUid}/tags';

/** Lists tags (operations 32, 34 and 70). */
export function useTags({ kind, organizationUid }: TagScope, search: string): PagedList<TagRow> {
  const v1 = (bodyFields: object) => ({
    query: {
      'filter[organization_uid][]': [organizationUid],
      ...(search === '' ? {} : { 'filter[search]': search }),
      ...bodyFields,
    },
  });
  async function page(cursor: string, signal: AbortSignal): Promise<CursorPage<TagRow>> {
    if (kind === 'asset') {
      const query = { perPage: PAGE_SIZE, 'page[after]': cursor, ...(search === '' ? {} : { search }) };
      const result = await api.GET(ASSET_TAGS_PATH, {
        params: { path: { orgUid: organizationUid }, query },
        signal,
      });
      const { rows, next } = parsePage(result);
      return {
        next,
        rows: rows.map(({ uid, name, entityCount }) => ({
          key: uid,
          name,
          count: entityCount,
          editable: true,
        })),
      };
    }
    const params = v1({ 'page[size]': PAGE_SIZE, 'page[after]': cursor });
    if (kind === 'assessment') {
      const { rows, next } = parsePage(await api.GET('/v1/assessment_tags', { params, signal }));
      return { next, rows: rows.map(({ id, ...tag }) => ({ ...tag, key: String(id), editable: true })) };
    }
    const { rows, next } = parsePage(await api.GET('/v1/vulnerability_tags', { params, signal }));
    return { next, rows: rows.map(({ id, ...tag }) => ({ ...tag, key: String(id) })) };
  }
  return usePagedList<TagRow>({ key: [...TAGS_KEY, kind, organizationUid, search], fetchPage: page });
}

/** Counts the visible objects with a tag, uncached (operations 15, 36 and 71). */
export const taggedCountQuery = ({ kind, organizationUid }: TagScope, key: string) =>
  queryOptions({
    queryKey: ['tagged', kind, key],
    async queryFn({ signal }) {
      if (kind === 'asset') {
        const path = { orgUid: organizationUid, tagUid: key };
        return (await api.GET(`${ASSET_TAGS_PATH}/{tagUid}`, { params: { path }, signal })).data.entityCount;
      }
      const query = { 'filter[tag_id][]': [Number(key)], 'page[size]': 1 };
      const { response } =
        kind === 'assessment'
          ? await api.GET('/v1/assessments', { params: { query }, signal })
          : await api.GET('/v1/vulnerabilities', { params: { query: { ...query, fields: 'id' } }, signal });
      return parseTotal(response);
    },
    staleTime: 0,
    gcTime: 0,
  });

/** A new tag; `assessmentUid` is the first assessment that a tag of assessments is attached to. */
interface NewTag {
  name: string;
  assessmentUid?: string | undefined;
  /** Set by staff. */
  organizationId?: number | undefined;
}

/** Creates a tag (operations 3, 8 and 33). */
export async function createTag(
  scope: TagScope,
  { name, assessmentUid, organizationId }: NewTag,
): Promise<void> {
  if (scope.kind === 'asset') {
    const params = { path: { orgUid: scope.organizationUid } };
    await api.POST(ASSET_TAGS_PATH, { params, body: { tags: [{ name }] } });
  } else if (scope.kind === 'assessment')
    await api.POST('/v1/assessment_tags', { body: { name, assessment_id: assessmentUid ?? '' } });
  else
    await api.POST('/v1/vulnerability_tags', {
      body: { name, ...(organizationId === undefined ? {} : { organization_profile_id: organizationId }) },
    });
}

/** Renames a tag (operations 2, 4 and 72). */
export async function renameTag(
  { kind, organizationUid }: TagScope,
  key: string,
  name: string,
): Promise<void> {
  const params = { path: { id: Number(key) } };
  if (kind === 'asset')
    await api.PUT(`${ASSET_TAGS_PATH}/{tagUid}`, {
      params: { path: { orgUid: organizationUid, tagUid: key } },
      body: { name },
    });
  else if (kind === 'assessment') await api.PUT('/v1/assessment_tags/{id}', { params, body: { name } });
  else await api.PUT('/v1/vulnerability_tags/{id}', { params, body: { name } });
}

/** Deletes a tag (operations 1, 35 and 73). */
export async function deleteTag({ kind, organizationUid }: TagScope, key: string): Promise<void> {
  const params = { path: { id: Number(key) } };
  if (kind === 'asset')
    await api.DELETE(ASSET_TAGS_PATH, {
      params: { path: { orgUid: organizationUid } },
      body: { uids: [key] },
    });
  else if (kind === 'assessment') await api.DELETE('/v1/assessment_tags/{id}', { params });
  else await api.DELETE('/v1/vulnerability_tags/{id}', { params });
}

/** @returns a function that refetches everything that shows tags */
export function useRefreshTags(): () => void {
  const client = useQueryClient();
  return () => {
    for (const name of [
      'tags',
      'vulnerabilities',
      'vulnerability',
      'assessments',
      'assessment',
      'assets',
      'asset',
    ])
      void client.resetQueries({ queryKey: [name] });
  };
}

const MAX_SUGGESTIONS = 20;

/** Searches the names of vulnerability tags (operation 32). Keeps the previous result while loading. */
export const tagSuggestionsQuery = (search: string) =>
  queryOptions({
    queryKey: ['tag-names', search],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/v1/vulnerability_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_SUGGESTIONS } },
        signal,
      });
      // Staff see several organizations, whose tags may have the same name.
      return [...new Set(data.map(({ name }) => name))];
    },
    placeholderData: keepPreviousData,
  });
