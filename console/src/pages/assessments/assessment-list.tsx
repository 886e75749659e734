import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssessments } from '../../queries/assessments.ts';
import type { Assessment } from '../../queries/client.ts';
import { ListPage } from '../../components/list-page.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import { ASSESSMENT_TABLE_COLUMNS } from './columns.tsx';
import { useAssessmentFilters } from './filters.ts';
import { assessmentMessages as messages } from './messages.ts';
import { parseAssessmentSearch } from './search-params.ts';
import { useCanCreateAssessments } from '../../session/permissions.ts';

const DEFAULT_SORT = '-created_at';

const uidOf = ({ uid }: Assessment) => uid;
const nameOf = ({ name }: Assessment) => name;

/** The assessment list. */
export function AssessmentList() {
  const search = useSearch({ from: '/assessments' });
  const navigate = useNavigate({ from: '/assessments' });
  const list = useAssessments({ sort: DEFAULT_SORT, ...search });
  const filters = useAssessmentFilters();
  const canCreate = useCanCreateAssessments();
  const [isCreating, setCreating] = useState(false);
  const startCreating = () => setCreating(true);
  const open = ({ uid }: Assessment) => void navigate({ to: '/assessments/$uid', params: { uid } });
  return (
    <ListPage
      title={messages.listTitle}
      itemName="assessment"
      list={list}
      columns={ASSESSMENT_TABLE_COLUMNS}
      rowId={uidOf}
      rowName={nameOf}
      onOpen={open}
      filters={filters}
      search={search}
      searchLabel={messages.searchLabel}
      defaultSort={DEFAULT_SORT}
      onSearch={(change) =>
        void navigate({ search: (now) => parseAssessmentSearch({ ...now, ...change }), replace: true })
      }
      onClear={() => void navigate({ search: {} })}
      create={
        canCreate
          ? {
              label: messages.newAssessment,
              button: <NewButton itemName="assessment" onClick={startCreating} />,
              run: startCreating,
            }
          : undefined
      }
      empty={{
        title: messages.emptyTitle,
        hint: canCreate ? messages.emptyHint : messages.emptyHintReadOnly,
      }}
    >
      {isCreating && <AssessmentForm onClose={() => setCreating(false)} onSaved={open} />}
    </ListPage>
  );
}
