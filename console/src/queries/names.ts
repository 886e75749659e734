import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { api, type Assessment } from './client.ts';
import { objectNameQuery } from './object-names.ts';
import { PAGE_SIZE } from './paged-list.ts';

/** Assessments whose names are read in advance. */
const MAX_NAMES = 1_000;

/** Reads the names of assessments, by uid. */
const assessmentNamesQuery = queryOptions({
  queryKey: ['assessment-names'],
  async queryFn({ signal }) {
    const names = new Map<Assessment['uid'], string>();
    const query = { sort: '-created_at' as const, 'page[size]': PAGE_SIZE, 'page[after]': '' };
    for await (const { uid, name } of api.rows('/v1/assessments', { params: { query }, signal })) {
      names.set(uid, name);
      if (names.size === MAX_NAMES) break;
    }
    return names;
  },
  staleTime: 300_000,
});

/** The names of assessments by uid; undefined until they are read. */
export const useAssessmentNames = (): ReadonlyMap<string, string> | undefined =>
  useQuery(assessmentNamesQuery).data;

/** @returns the name of an assessment if it has been read, else its uid */
export const cachedAssessmentName = (client: QueryClient, uid: string): string =>
  client.getQueryData(assessmentNamesQuery.queryKey)?.get(uid) ?? uid;

/** The name of an assessment; undefined until it is read, and its uid if it cannot be read. */
export function useAssessmentName(uid: string): string | undefined {
  const names = useAssessmentNames();
  const name = names?.get(uid);
  const isMissing = names !== undefined && name === undefined;
  const { data } = useQuery({ ...objectNameQuery('assessment', uid), enabled: isMissing });
  return name ?? (data === null ? uid : data);
}
