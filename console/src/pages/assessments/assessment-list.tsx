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
import { parseAssessmentSearch } from './search-params.ts';
import { useCanCreateAssessments } from '../../session/permissions.ts';

/** The order unless another one is chosen. */
const DEFAULT_SORT = '-created_at';

const uidOf = ({ uid }: Assessment) => uid;
const nameOf = ({ name }: Assessment) => name;

/** The assessments: a table and its filters. */
export function AssessmentList() {
  const search = useSearch({ from: '/assessments' });
  const navigate = useNavigate({ from: '/assessments' });
  const list = useAssessments({ sort: DEFAULT_SORT, ...search });
  const kinds = useAssessmentFilters();
  const mayCreate = useCanCreateAssessments();
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [creates, setCreates] = useState(false);

  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => parseAssessmentSearch({ ...now, ...change }), replace: true });
  };
  const open = ({ uid }: { uid: string }) => void navigate({ to: '/assessments/$uid', params: { uid } });
  useRowShortcuts(rows, {
    itemName: 'assessment',
    open: { run: open },
    shortcuts: mayCreate ? { n: { label: 'New assessment', run: () => setCreates(true) } } : {},
  });

  const values = Object.fromEntries(
    kinds.map(({ name }) => {
      const value = search[name as keyof AssessmentSearch];
      return [name, value === undefined ? [] : [value].flat().map(String)];
    }),
  );
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const create = mayCreate && <NewButton itemName="assessment" onClick={() => setCreates(true)} />;
  return (
    <PageLayout
      title="Assessments"
      fillsHeight
      actions={
        <>
          <ResultCount list={list} />
          {create}
        </>
      }
      toolbar={
        <FilterBar
          filters={kinds}
          values={values}
          // A list is of one group, or of all.
          onChange={(name, next) => filter({ [name]: name === 'assessment_group_id' ? next.at(-1) : next })}
          search={search.search}
          searchLabel="Search names and ids"
          onSearch={(words) => filter({ search: words })}
        />
      }
    >
      <DataTable
        label="Assessments"
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
            <EmptyState title="No assessments yet" action={create}>
              {mayCreate
                ? 'An assessment is one engagement: what is tested, by whom, for how long, and what was found. Create the first one.'
                : 'An assessment is one engagement. Those that you are given access to stand here.'}
            </EmptyState>
          )
        }
      />
      {creates && <AssessmentForm onClose={() => setCreates(false)} onSaved={open} />}
    </PageLayout>
  );
}
