import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type AssessmentSearch, useAssessments } from '../../queries/assessments.ts';
import type { Assessment } from '../../queries/client.ts';
import { useMayCreate } from '../../queries/groups.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Found } from '../../components/result-count.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import { COLUMNS } from './columns.tsx';
import { useAssessmentKinds } from './filters.ts';
import { assessmentSearchOf } from './search-params.ts';

/** The order unless another one is chosen. */
const NEWEST = '-created_at';

const uidOf = ({ uid }: Assessment) => uid;
const nameOf = ({ name }: Assessment) => name;

/** The assessments: a table and its filters. */
export function AssessmentList() {
  const search = useSearch({ from: '/assessments' });
  const navigate = useNavigate({ from: '/assessments' });
  const list = useAssessments({ sort: NEWEST, ...search });
  const kinds = useAssessmentKinds();
  const mayCreate = useMayCreate();
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [creates, setCreates] = useState(false);

  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => assessmentSearchOf({ ...now, ...change }), replace: true });
  };
  const open = ({ uid }: { uid: string }) => void navigate({ to: '/assessments/$uid', params: { uid } });
  useRowKeys(rows, {
    noun: 'assessment',
    open: { run: open },
    others: mayCreate ? { n: { label: 'New assessment', run: () => setCreates(true) } } : {},
  });

  const values = Object.fromEntries(
    kinds.map(({ name }) => {
      const value = search[name as keyof AssessmentSearch];
      return [name, value === undefined ? [] : [value].flat().map(String)];
    }),
  );
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const create = mayCreate && <NewButton noun="assessment" onClick={() => setCreates(true)} />;
  return (
    <Place
      title="Assessments"
      fills
      actions={
        <>
          <Found list={list} />
          {create}
        </>
      }
      tools={
        <FilterBar
          kinds={kinds}
          values={values}
          // A list is of one group, or of all.
          onChange={(name, next) => filter({ [name]: name === 'assessment_group_id' ? next.at(-1) : next })}
          search={search.search}
          searchLabel="Search names and ids"
          onSearch={(words) => filter({ search: words })}
        />
      }
    >
      <RowsTable
        label="Assessments"
        list={list}
        columns={COLUMNS}
        rowId={uidOf}
        rowName={nameOf}
        current={current}
        onCurrent={setCurrent}
        onOpen={open}
        sort={search.sort ?? NEWEST}
        onSort={(sort) => filter({ sort })}
        empty={
          isFiltered ? (
            <NoneMatch onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty title="No assessments yet" action={create}>
              {mayCreate
                ? 'An assessment is one engagement: what is tested, by whom, for how long, and what was found. Create the first one.'
                : 'An assessment is one engagement. Those that you are given access to stand here.'}
            </Empty>
          )
        }
      />
      {creates && <AssessmentForm onClose={() => setCreates(false)} onSaved={open} />}
    </Place>
  );
}
