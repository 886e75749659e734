import { api } from '../../queries/client.ts';
import { findGroups } from '../../queries/groups.ts';
import type { FilterKind } from '../../components/filter-definition.ts';
import { useOrganizationKind } from '../../components/organization-filter.ts';
import { STATES } from './search-params.ts';
import { stateWord } from './assessment-state-badge.tsx';

const KINDS: readonly FilterKind[] = [
  { name: 'state', label: 'State', options: STATES.map((value) => ({ value, label: stateWord(value) })) },
  {
    name: 'tag_id',
    label: 'Tag',
    async options(search, signal) {
      const { data } = await api.GET('/v1/assessment_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': 20 } },
        signal,
      });
      return data.map(({ id, name }) => ({ value: String(id), label: name }));
    },
    async nameOf(value, signal) {
      const query = { 'page[size]': 200, 'page[after]': '' };
      for await (const { id, name } of api.rows('/v1/assessment_tags', { params: { query }, signal }))
        if (String(id) === value) return name;
      return value;
    },
  },
  {
    name: 'assessment_group_id',
    label: 'Group',
    options: findGroups,
    nameOf: async (value, signal) =>
      (await api.GET('/v1/assessment_groups/{id}', { params: { path: { id: Number(value) } }, signal })).data
        .name,
  },
];

/** The filters of the assessments. */
export function useAssessmentKinds(): readonly FilterKind[] {
  return [...KINDS, ...useOrganizationKind()];
}
