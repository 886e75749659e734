import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { useImports } from '../../queries/imports.ts';
import { IMPORT_COLUMNS } from '../imports/columns.tsx';
import { importMessages } from '../imports/messages.ts';
import classes from './assessment-page.module.css';
import { assessmentMessages as messages } from './messages.ts';

const COLUMNS = IMPORT_COLUMNS.filter(({ id }) => id !== 'assessment');

/** The imports into an assessment. */
export function ImportsTab({ assessment: { uid, permissions } }: { assessment: VersionedAssessment }) {
  const list = useImports({ assessment_id: [uid] });
  const navigate = useNavigate();
  return (
    <div className={classes.table}>
      <DataTable
        label={messages.imports}
        list={list}
        columns={COLUMNS}
        rowId={({ id }) => String(id)}
        rowName={({ file }) => file.filename}
        onOpen={({ id }) => void navigate({ to: '/imports/$id', params: { id: String(id) } })}
        empty={
          <EmptyState title={importMessages.noImports}>
            {permissions?.write_assets === true && messages.noImportsHint}
          </EmptyState>
        }
      />
    </div>
  );
}
