import { api } from '../../queries/client.ts';
import { ASSESSMENT_STATES } from '../../queries/enums.ts';
import { findGroups } from '../../queries/groups.ts';
import type { FilterDefinition } from '../../components/filter-definition.ts';
import { useOrganizationFilter } from '../../components/organization-filter.ts';
import { assessmentStateLabel } from './assessment-state-badge.tsx';

const STATIC_FILTERS: readonly FilterDefinition[] = [
  {
    name: 'state',
    label: 'State',
    options: ASSESSMENT_STATES.map((value) => ({ value, label: assessmentStateLabel(value) })),
  },
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
    async loadLabel(value, signal) {
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
    loadLabel: async (value, signal) =>
      (await api.GET('/v1/assessment_groups/{id}', { params: { path: { id: Number(value) } }, signal })).data
        .name,
  },
];

export function useAssessmentFilters(): readonly FilterDefinition[] {
  return [...STATIC_FILTERS, ...useOrganizationFilter()];
}
