import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssessments } from '../../queries/assessments.ts';
import { type Assessment, api } from '../../queries/client.ts';
import { ListPage } from '../../components/list-page.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import { AssessmentTabs, searchOfStateTab, stateTabOf } from './assessment-tabs.tsx';
import { useAssessmentTable } from './columns.tsx';
import { assessmentMessages as messages } from './messages.ts';
import { parseAssessmentSearch } from '../../app/search-params.ts';
import { useCanCreateAssessments } from '../../session/permissions.ts';
import { findGroups } from '../../queries/groups.ts';
import { type FilterDefinition, useOrganizationFilter } from '../../components/filter-definition.ts';

const DEFAULT_SORT = '-created_at';

const uidOf = ({ uid }: Assessment) => uid;
const nameOf = ({ name }: Assessment) => name;

/** The assessment list. */
export function AssessmentList() {
  const search = useSearch({ from: '/assessments' });
  const navigate = useNavigate({ from: '/assessments' });
  const list = useAssessments({ sort: DEFAULT_SORT, ...searchOfStateTab(search) });
  const tab = stateTabOf(search);
  const table = useAssessmentTable(list, tab === undefined || tab === 'all');
  const filters = useAssessmentFilters();
  const { state, ...filter } = search;
  const canCreate = useCanCreateAssessments();
  const emptyHint = canCreate ? messages.emptyHint : messages.emptyHintReadOnly;
  const [isCreating, setCreating] = useState(false);
  const open = ({ uid }: Assessment) => void navigate({ to: '/assessments/$uid', params: { uid } });
  return (
    <ListPage
      title={messages.listTitle}
      itemName="assessment"
      list={list}
      {...table}
      tabs={<AssessmentTabs search={search} />}
      rowId={uidOf}
      rowName={nameOf}
      onOpen={open}
      filters={filters}
      search={filter}
      searchLabel={messages.searchLabel}
      defaultSort={DEFAULT_SORT}
      onSearch={(change) =>
        void navigate({
          search: (previous) => parseAssessmentSearch({ ...previous, ...change }),
          replace: true,
        })
      }
      onClear={() => void navigate({ search: state === undefined ? {} : { state } })}
      create={canCreate ? { label: messages.newAssessment, run: () => setCreating(true) } : undefined}
      empty={{
        title: messages.nothingIn[tab ?? 'all'],
        hint: tab === 'paused' || tab === 'completed' ? '' : emptyHint,
      }}
    >
      {isCreating && <AssessmentForm onClose={() => setCreating(false)} onSaved={open} />}
    </ListPage>
  );
}

const STATIC_FILTERS: readonly FilterDefinition[] = [
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

function useAssessmentFilters(): readonly FilterDefinition[] {
  return [...STATIC_FILTERS, ...useOrganizationFilter()];
}
