import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type AssessmentSearch, useAssessments } from '../../queries/assessments.ts';
import type { Assessment } from '../../queries/client.ts';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ResultCount } from '../../components/result-count.tsx';
import { PageLayout } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import { ASSESSMENT_TABLE_COLUMNS } from './columns.tsx';
import { useAssessmentFilters } from './filters.ts';
import { assessmentMessages as messages } from './messages.ts';
import { parseAssessmentSearch } from './search-params.ts';
import { useCanCreateAssessments } from '../../session/permissions.ts';

const DEFAULT_SORT = '-created_at';

const uidOf = ({ uid }: Assessment) => uid;
const nameOf = ({ name }: Assessment) => name;

/** The assessment list: a filtered table. */
export function AssessmentList() {
  const search = useSearch({ from: '/assessments' });
  const navigate = useNavigate({ from: '/assessments' });
  const list = useAssessments({ sort: DEFAULT_SORT, ...search });
  const filters = useAssessmentFilters();
  const canCreate = useCanCreateAssessments();
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [isCreating, setCreating] = useState(false);

  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => parseAssessmentSearch({ ...now, ...change }), replace: true });
  };
  const open = ({ uid }: { uid: string }) => void navigate({ to: '/assessments/$uid', params: { uid } });
  useRowShortcuts(rows, {
    itemName: 'assessment',
    open: { run: open },
    shortcuts: canCreate ? { n: { label: messages.newAssessment, run: () => setCreating(true) } } : {},
  });

  const values = Object.fromEntries(
    filters.map(({ name }) => {
      const value = search[name as keyof AssessmentSearch];
      return [name, value === undefined ? [] : [value].flat().map(String)];
    }),
  );
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const create = canCreate && <NewButton itemName="assessment" onClick={() => setCreating(true)} />;
  return (
    <PageLayout
      title={messages.listTitle}
      fillsHeight
      actions={
        <>
          <ResultCount list={list} />
          {create}
        </>
      }
      toolbar={
        <FilterBar
          filters={filters}
          values={values}
          // The API filters by one group at most.
          onChange={(name, next) => filter({ [name]: name === 'assessment_group_id' ? next.at(-1) : next })}
          search={search.search}
          searchLabel={messages.searchLabel}
          onSearch={(text) => filter({ search: text })}
        />
      }
    >
      <DataTable
        label={messages.listTitle}
        list={list}
        columns={ASSESSMENT_TABLE_COLUMNS}
        rowId={uidOf}
        rowName={nameOf}
        current={current}
        onCurrent={setCurrent}
        onOpen={open}
        sort={search.sort ?? DEFAULT_SORT}
        onSort={(sort) => filter({ sort })}
        empty={
          isFiltered ? (
            <NoResults onClear={() => void navigate({ search: {} })} />
          ) : (
            <EmptyState title={messages.emptyTitle} action={create}>
              {canCreate ? messages.emptyHint : messages.emptyHintReadOnly}
            </EmptyState>
          )
        }
      />
      {isCreating && <AssessmentForm onClose={() => setCreating(false)} onSaved={open} />}
    </PageLayout>
  );
}
