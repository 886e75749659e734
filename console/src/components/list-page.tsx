import type { ReactNode } from 'react';
import type { PagedList } from '../queries/paged-list.ts';
import { filterValues } from '../app/search-params.ts';
import { useCurrentRow, useRowShortcuts } from './current-row.ts';
import { DataTable } from './data-table.tsx';
import { EmptyState, NoResults } from './empty-state.tsx';
import { FilterBar } from './filter-bar.tsx';
import type { FilterDefinition } from './filter-definition.ts';
import { PageLayout, ResultCount } from './page.tsx';
import { NewButton } from './page-actions.tsx';
import type { Column } from './table-column.tsx';

interface ListPageProps<Row extends object> {
  title: string;
  /** Beside the heading, with the counts. */
  tabs?: ReactNode;
  /** Noun of a row: "group". */
  itemName: string;
  list: PagedList<Row>;
  columns: readonly Column<Row>[];
  /** Pixels. */
  rowHeight?: number;
  rowId: (row: Row) => string;
  rowName: (row: Row) => string;
  onOpen: (row: Row) => void;
  filters: readonly FilterDefinition[];
  /** The search parameters of the page. */
  search: { search?: string; sort?: string };
  searchLabel: string;
  defaultSort?: string;
  /** Changes some search parameters. */
  onSearch: (change: Record<string, unknown>) => void;
  /** Removes all search parameters. */
  onClear: () => void;
  /**
   * The main action, the label of its shortcut, `n`, and its button, by default "New"; undefined without permission.
   */
  create?: { label: string; button?: ReactNode; run: () => void } | undefined;
  /** Shown if there are no rows at all. */
  empty: { title: string; hint: string };
  /** Dialogs. */
  children: ReactNode;
}

/** A page with a filtered table whose rows open a page. */
export function ListPage<Row extends object>(props: ListPageProps<Row>) {
  const { title, list, filters, search, defaultSort, onOpen, create, empty } = props;
  const currentRow = useCurrentRow(list);
  useRowShortcuts(currentRow, {
    itemName: props.itemName,
    open: { run: onOpen },
    shortcuts: create === undefined ? {} : { n: { label: create.label, run: create.run } },
  });
  const changeSearch = (change: Record<string, unknown>) => {
    currentRow.setCurrent(undefined);
    props.onSearch(change);
  };
  const createButton =
    create && (create.button ?? <NewButton itemName={props.itemName} onClick={create.run} />);
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  return (
    <PageLayout
      title={title}
      tabs={props.tabs}
      fillsHeight
      actions={
        <>
          {props.tabs === undefined && <ResultCount list={list} />}
          {createButton}
        </>
      }
      toolbar={
        <FilterBar
          filters={filters}
          values={Object.fromEntries(filters.map(({ name }) => [name, filterValues(search, name)]))}
          onChange={(name, values) => changeSearch({ [name]: values })}
          search={search.search}
          searchLabel={props.searchLabel}
          onSearch={(text) => changeSearch({ search: text })}
        />
      }
    >
      <DataTable
        label={title}
        list={list}
        columns={props.columns}
        {...(props.rowHeight === undefined ? {} : { rowHeight: props.rowHeight })}
        rowId={props.rowId}
        rowName={props.rowName}
        current={currentRow.current}
        onCurrent={currentRow.setCurrent}
        onOpen={onOpen}
        sort={search.sort ?? defaultSort}
        onSort={(sort) => changeSearch({ sort })}
        empty={
          isFiltered ? (
            <NoResults onClear={props.onClear} />
          ) : (
            <EmptyState title={empty.title} action={createButton}>
              {empty.hint}
            </EmptyState>
          )
        }
      />
      {props.children}
    </PageLayout>
  );
}
