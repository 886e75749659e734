import { Checkbox } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { type ImportSearch, useImports } from '../../queries/imports.ts';
import { findAssessments, loadAssessmentName } from '../../queries/assessments.ts';
import type { ImportJob } from '../../queries/client.ts';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { type FilterDefinition, toOptions } from '../../components/filter-definition.ts';
import { PageBar, PageLayout, ResultCount } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { useCanImport } from '../../session/permissions.ts';
import { IMPORT_COLUMNS } from './columns.tsx';
import { DropZone } from './drop-zone.tsx';
import { parseImportSearch } from '../../app/search-params.ts';
import { type DroppedFile, NewImports } from './new-imports.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const KINDS: readonly FilterDefinition[] = [
  {
    name: 'state',
    label: 'State',
    options: toOptions(importMessages.states),
  },
  {
    name: 'assessment_id',
    label: 'Assessment',
    options: findAssessments,
    loadLabel: loadAssessmentName,
  },
];

const idOf = ({ id }: ImportJob) => String(id);
const nameOf = ({ file }: ImportJob) => file.filename;

/** The import page: uploads reports and lists past imports. */
export function ImportList() {
  const search = useSearch({ from: '/imports' });
  const navigate = useNavigate({ from: '/imports' });
  const list = useImports(search);
  const canImport = useCanImport();
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [files, setFiles] = useState<readonly DroppedFile[]>([]);
  const last = useRef(0);

  const open = ({ id }: ImportJob) => void navigate({ to: `/imports/${id}` });
  useRowShortcuts(rows, { itemName: 'import', open: { run: open } });
  const values = { state: search.state ?? [], assessment_id: search.assessment_id ?? [] };
  const filter = (change: Partial<Record<keyof ImportSearch, unknown>>) => {
    setCurrent(undefined);
    void navigate({ search: (previous) => parseImportSearch({ ...previous, ...change }), replace: true });
  };
  const isFiltered = Object.keys(search).some((name) => name !== 'dry_runs');
  return (
    <PageLayout title="Imports" fillsHeight actions={<ResultCount list={list} />}>
      <div className={classes.scrolls}>
        <PageBar>
          {canImport && (
            <DropZone
              isLarge={files.length === 0 && list.total === 0}
              onFiles={(dropped) =>
                setFiles((previous) => [
                  ...previous,
                  ...dropped.map((file) => {
                    last.current += 1;
                    return { id: last.current, file };
                  }),
                ])
              }
            />
          )}
          {files.length > 0 && (
            <NewImports
              files={files}
              onRemove={(ids) => setFiles((previous) => previous.filter(({ id }) => !ids.includes(id)))}
            />
          )}
        </PageBar>
        <PageBar>
          <FilterBar filters={KINDS} values={values} onChange={(name, next) => filter({ [name]: next })}>
            <Checkbox
              size="sm"
              label={importMessages.showDryRuns}
              checked={search.dry_runs === true}
              onChange={(event) => filter({ dry_runs: event.currentTarget.checked })}
            />
          </FilterBar>
        </PageBar>
        <div className={classes.table}>
          <DataTable
            label="Imports"
            list={list}
            columns={IMPORT_COLUMNS}
            rowId={idOf}
            rowName={nameOf}
            current={current}
            onCurrent={setCurrent}
            onOpen={open}
            empty={
              isFiltered ? (
                <NoResults onClear={() => void navigate({ search: {} })} />
              ) : (
                <EmptyState title={importMessages.noImports}>
                  {canImport ? importMessages.noImportsHint : importMessages.noImportsHintReadOnly}
                </EmptyState>
              )
            }
          />
        </div>
      </div>
    </PageLayout>
  );
}
