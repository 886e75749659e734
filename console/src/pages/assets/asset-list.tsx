import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type AssetRow, type AssetSearch, useAssets } from '../../queries/assets.ts';
import { filterValues, omitUndefined } from '../../app/search-params.ts';
import { loadedRows } from '../../queries/paged-list.ts';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/page-actions.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ResultCount, PageLayout } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { SelectionBar } from '../../components/selection-bar.tsx';
import { toggleId } from '../../components/table-column.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { AddAssetsDialog } from './add-assets-dialog.tsx';
import { EditAssetsDialog, type AssetEditKind } from './edit-assets-dialog.tsx';
import { AssetTabs } from './asset-tabs.tsx';
import { assetColumnsFor } from './columns.tsx';
import { useAssetFilters } from './filters.tsx';
import { assetMessages as messages } from './messages.ts';
import classes from './asset-list.module.css';

const DEFAULT_SORT = 'location';

const uidOf = ({ uid }: AssetRow) => uid;
const locationOf = ({ location }: AssetRow) => location;

/** The edits of selected assets, each with its shortcut. */
const EDITS = [
  { kind: 'criticality', key: 'e', label: 'Criticality' },
  { kind: 'tags', key: 't', label: 'Tags' },
  { kind: 'listing', key: 'l', label: 'Scope' },
] as const;

type AssetSearchChange = { [Name in keyof AssetSearch]?: AssetSearch[Name] | undefined };

/** The asset list: a filtered table with bulk edits. */
export function AssetList() {
  const search = useSearch({ from: '/assets' });
  const navigate = useNavigate({ from: '/assets' });
  const list = useAssets({ sort: DEFAULT_SORT, ...search });
  const rights = useAssetPermissions();
  const rows = useCurrentRow(list);
  const { current, setCurrent, row } = rows;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [editKind, setEditKind] = useState<AssetEditKind>();
  const [adding, setAdding] = useState(false);

  const filter = (next: AssetSearchChange) => {
    setCurrent(undefined);
    setSelected(new Set());
    void navigate({ search: (previous) => omitUndefined({ ...previous, ...next }), replace: true });
  };
  const selectedRows = useMemo(
    () => (selected.size > 0 ? loadedRows(list, uidOf).filter(({ uid }) => selected.has(uid)) : []),
    [list, selected],
  );
  const columns = useMemo(() => assetColumnsFor(list.pages.flat()), [list.pages]);
  const targets = selected.size > 0 ? selectedRows : row === undefined ? [] : [row];
  const openEditor = (kind: AssetEditKind) => () => targets.length > 0 && setEditKind(kind);
  const openRow = ({ uid }: AssetRow) => void navigate({ to: `/assets/${uid}` });

  const isPermitted: Record<AssetEditKind, boolean> = {
    criticality: rights.write && targets.every(rights.writeTo),
    tags: rights.tag && targets.every(rights.tagOf),
    listing: rights.list(),
  };
  const changes = EDITS.filter(({ kind }) => isPermitted[kind]);
  const canSelect = rights.write || rights.tag;
  useRowShortcuts(rows, {
    itemName: 'asset',
    open: { run: openRow },
    shortcuts: {
      ...(canSelect
        ? {
            x: {
              label: messages.shortcuts.select,
              run: () => row !== undefined && setSelected(toggleId(selected, row.uid)),
            },
          }
        : {}),
      ...Object.fromEntries(
        changes.map(({ kind, key }) => [key, { label: messages.shortcuts[kind], run: openEditor(kind) }]),
      ),
      ...(rights.write ? { n: { label: messages.shortcuts.add, run: () => setAdding(true) } } : {}),
      Escape: { label: messages.shortcuts.clear, run: () => setSelected(new Set()) },
    },
  });

  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const addButton = rights.write && (
    <NewButton verb="Add" itemName="assets" onClick={() => setAdding(true)} />
  );
  return (
    <PageLayout
      title={messages.listTitle}
      fillsHeight
      actions={
        <>
          <ResultCount list={list} />
          {addButton}
        </>
      }
      tabs={<AssetTabs search={search} />}
      toolbar={<AssetFilters search={search} onFilter={filter} />}
    >
      <div className={classes.grow}>
        <DataTable
          label={messages.listTitle}
          list={list}
          columns={columns}
          rowHeight={52}
          rowId={uidOf}
          rowName={locationOf}
          current={current}
          onCurrent={setCurrent}
          onOpen={openRow}
          {...(!canSelect ? {} : { selection: { selected, onChange: setSelected } })}
          sort={search.sort ?? DEFAULT_SORT}
          onSort={(sort) => filter({ sort })}
          empty={
            isFiltered ? (
              <NoResults onClear={() => void navigate({ search: {} })} />
            ) : (
              <EmptyState title={messages.emptyTitle} action={addButton}>
                {rights.write ? messages.emptyHint : messages.emptyHintReadOnly}
              </EmptyState>
            )
          }
        />
        {selected.size > 0 && (
          <SelectionBar
            count={selected.size}
            total={list.isCounted ? list.total : undefined}
            actions={changes.map(({ kind, key, label }) => ({
              label,
              shortcut: key,
              run: openEditor(kind),
            }))}
            onClear={() => setSelected(new Set())}
          />
        )}
      </div>
      {editKind !== undefined && (
        <EditAssetsDialog kind={editKind} rows={targets} onClose={() => setEditKind(undefined)} />
      )}
      {adding && <AddAssetsDialog onClose={() => setAdding(false)} />}
    </PageLayout>
  );
}

interface AssetFiltersProps {
  search: AssetSearch;
  onFilter: (change: AssetSearchChange) => void;
}

function AssetFilters({ search, onFilter }: AssetFiltersProps) {
  const filters = useAssetFilters();
  return (
    <FilterBar
      filters={filters}
      values={Object.fromEntries(filters.map(({ name }) => [name, filterValues(search, name)]))}
      onChange={(name, next) =>
        onFilter({
          [name]: next.length === 0 ? undefined : name === 'portNumber' ? next.map(Number) : [...next],
        })
      }
      search={search.search}
      searchLabel={messages.searchLabel}
      onSearch={(text) => onFilter({ search: text === '' ? undefined : text })}
    />
  );
}
