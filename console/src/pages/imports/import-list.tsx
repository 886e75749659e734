import { Checkbox } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { IMPORT_STATES, type ImportSearch, useImports } from '../../queries/imports.ts';
import { searchListings } from '../../queries/assets.ts';
import { api, type ImportJob } from '../../queries/client.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import type { FilterKind } from '../../components/filter-definition.ts';
import { Found } from '../../components/result-count.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import { COLUMNS } from './columns.tsx';
import { DropZone } from './drop-zone.tsx';
import { importSearchOf } from './search.ts';
import { type DroppedFile, NewImports } from './new-imports.tsx';
import classes from './imports.module.css';

const KINDS: readonly FilterKind[] = [
  {
    name: 'state',
    label: 'State',
    options: Object.entries(IMPORT_STATES).map(([value, label]) => ({ value, label })),
  },
  {
    name: 'assessment_id',
    label: 'Assessment',
    async options(search, signal) {
      return (await searchListings(search, signal)).map(({ uid, name }) => ({ value: uid, label: name }));
    },
    nameOf: async (value, signal) =>
      (await api.GET('/v1/assessments/{id}', { params: { path: { id: value } }, signal })).data.name,
  },
];

const idOf = ({ id }: ImportJob) => String(id);
const nameOf = ({ file }: ImportJob) => file.filename;

/** The imports: reports that are dropped, and those that were imported before. */
export function ImportList() {
  const search = useSearch({ from: '/imports' });
  const navigate = useNavigate({ from: '/imports' });
  const list = useImports(search);
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [files, setFiles] = useState<readonly DroppedFile[]>([]);
  const last = useRef(0);

  const open = ({ id }: ImportJob) => void navigate({ to: `/imports/${id}` });
  useRowKeys(rows, { noun: 'import', open: { run: open } });
  const values = { state: search.state ?? [], assessment_id: search.assessment_id ?? [] };
  const filter = (change: Partial<Record<keyof ImportSearch, unknown>>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => importSearchOf({ ...now, ...change }), replace: true });
  };
  const isFiltered = Object.keys(search).some((name) => name !== 'dry_runs');
  return (
    <Place title="Imports" fills actions={<Found list={list} />}>
      <div className={classes.scrolls}>
        <DropZone
          large={files.length === 0 && list.total === 0}
          onFiles={(dropped) =>
            setFiles((now) => [
              ...now,
              ...dropped.map((file) => {
                last.current += 1;
                return { id: last.current, file };
              }),
            ])
          }
        />
        {files.length > 0 && (
          <NewImports
            files={files}
            onRemove={(ids) => setFiles((now) => now.filter(({ id }) => !ids.includes(id)))}
          />
        )}
        <FilterBar kinds={KINDS} values={values} onChange={(name, next) => filter({ [name]: next })}>
          <Checkbox
            size="sm"
            label="Show dry runs"
            checked={search.dry_runs === true}
            onChange={(event) => filter({ dry_runs: event.currentTarget.checked })}
          />
        </FilterBar>
        <div className={classes.table}>
          <RowsTable
            label="Imports"
            list={list}
            columns={COLUMNS}
            rowId={idOf}
            rowName={nameOf}
            current={current}
            onCurrent={setCurrent}
            onOpen={open}
            empty={
              isFiltered ? (
                <NoneMatch onClear={() => void navigate({ search: {} })} />
              ) : (
                <Empty title="No imports yet">
                  Drop the report of a scanner above. The command line has the same: assay import FILE.
                </Empty>
              )
            }
          />
        </div>
      </div>
    </Place>
  );
}
