import { api } from '../../queries/client.ts';
import type { Option } from '../../components/filter-definition.ts';

/** Searches assessments by name or uid, as options of a select. */
export async function findAssessments(
  search: string,
  signal: AbortSignal,
  organization: string | undefined,
): Promise<Option[]> {
  const { data } = await api.GET('/v1/assessments', {
    params: {
      query: {
        'filter[search]': search,
        'page[size]': 20,
        ...(organization === undefined ? {} : { 'filter[organization_uid][]': [organization] }),
      },
    },
    signal,
  });
  return data.map(({ uid, name }) => ({ value: uid, label: name }));
}
