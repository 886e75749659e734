import { Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { type ImportSearch, isFinished, useImports } from '../../queries/imports.ts';
import { IMPORT_STATES } from '../../queries/enums.ts';
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
import { FileDrop } from './file-drop.tsx';
import { parseImportSearch } from '../../app/search-params.ts';
import { type DroppedFile, NewImports } from './new-imports.tsx';
import { RunningImports } from './running-imports.tsx';
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

/** The list of imports; once reports are chosen, their preview takes its place. */
export function ImportList() {
  const search = useSearch({ from: '/imports' });
  const navigate = useNavigate({ from: '/imports' });
  const list = useImports(withoutRunning(search));
  const canImport = useCanImport();
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const isPhone = useMediaQuery('(max-width: 860px)', false, { getInitialValueInEffect: false });
  const [files, setFiles] = useState<readonly DroppedFile[]>([]);
  const last = useRef(0);

  const open = ({ id }: ImportJob) => void navigate({ to: '/imports/$id', params: { id: String(id) } });
  useRowShortcuts(rows, { itemName: 'import', open: { run: open } });
  const values = { state: search.state ?? [], assessment_id: search.assessment_id ?? [] };
  const filter = (change: Partial<Record<keyof ImportSearch, unknown>>) => {
    setCurrent(undefined);
    void navigate({ search: (previous) => parseImportSearch({ ...previous, ...change }), replace: true });
  };
  const add = (dropped: readonly File[]) =>
    setFiles((previous) => [
      ...previous,
      ...dropped.map((file) => {
        last.current += 1;
        return { id: last.current, file };
      }),
    ]);
  const isFiltered = Object.keys(search).some((name) => name !== 'dry_runs');
  if (files.length > 0)
    return (
      <NewImports
        files={files}
        assessmentUid={search.assessment_id?.length === 1 ? (search.assessment_id[0] ?? null) : null}
        onAdd={add}
        onRemove={(ids) => setFiles((previous) => previous.filter(({ id }) => !ids.includes(id)))}
      />
    );
  const content = (
    <div className={classes.scrolls}>
      {canImport && (
        <PageBar>
          <DropZone isLarge={list.total === 0} onFiles={add} />
        </PageBar>
      )}
      <RunningImports search={search} />
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
          rowHeight={isPhone ? 80 : 52}
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
  );
  return (
    <PageLayout title="Imports" fillsHeight actions={list.total > 0 && <ResultCount list={list} />}>
      {canImport ? <FileDrop onFiles={add}>{content}</FileDrop> : content}
    </PageLayout>
  );
}

const FINISHED = IMPORT_STATES.filter((state) => isFinished({ state }));

/** Those that wait or run are above the list, unless their states are chosen. */
const withoutRunning = (search: ImportSearch): ImportSearch => ({ state: [...FINISHED], ...search });
