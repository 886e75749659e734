import { Alert, Button } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { columnVisibilityFeature, type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { loadedRows, type PagedList } from '../queries/paged-list.ts';
import { errorText } from './notifications.tsx';
import { SelectAll, HeaderCell } from './table-head.tsx';
import type { RowSelection, Column } from './table-column.tsx';
import { TableRow } from './table-row.tsx';
import classes from './data-table.module.css';
import { commonMessages } from './messages.ts';

const features = tableFeatures({ columnVisibilityFeature });
/** Rows rendered beyond the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 10;
/** Pixels. */
const ROW_HEIGHT = 40;
/** Pixels. Narrower tables hide selected columns that do not fit. */
const WIDE_TABLE = 620;
/** Pixels. Narrower tables show the narrow variant of their columns. */
const NARROW_TABLE = 400;

interface DataTableProps<Row> {
  /** Accessible name. */
  label: string;
  list: PagedList<Row>;
  columns: readonly Column<Row>[];
  /** Ids of the selected columns; by default, those that fit. */
  selectedColumns?: readonly string[] | undefined;
  rowId: (row: Row) => string;
  /** Accessible name of the checkbox of a row. */
  rowName: (row: Row) => string;
  /** Index of the row that keyboard shortcuts act on. */
  current?: number | undefined;
  onCurrent?: (index: number) => void;
  onOpen?: (row: Row, index: number) => void;
  selection?: RowSelection;
  /** As in the API: `title`, or `-title` for descending. */
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Pixels. */
  rowHeight?: number;
  /** Whether only screen readers read the header. */
  hidesHead?: boolean;
  /** Shown if there are no rows. */
  empty: ReactNode;
}

/** A virtualized table of a paged list: renders the visible rows only, and loads pages on demand. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, list, rowId, current, selection, rowHeight = ROW_HEIGHT, hidesHead = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { ref: frame, width } = useElementSize<HTMLDivElement>();
  const mergedRef = useMergedRef(scroller, frame);
  const virtual = useVirtualizer({
    count: list.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const { isScrolling } = virtual;
  useEffect(() => {
    list.load(first, last, isScrolling);
  }, [list, first, last, isScrolling]);
  useEffect(() => {
    if (current !== undefined) virtual.scrollToIndex(current);
  }, [current, virtual]);
  useEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [list.listId]);

  const { shown: shownColumns, cells, template } = useShownColumns(props, width);
  const { toggle, click, move } = useRowHandlers(props);

  const failure = list.error !== null && (
    <Alert color="red" title={commonMessages.list.loadFailed} flex="none">
      {errorText(list.error)}{' '}
      <Button size="compact-sm" variant="light" onClick={list.retry}>
        {commonMessages.tryAgain}
      </Button>
    </Alert>
  );
  if (failure !== false && list.loadedCount === 0) return <div className={classes.nothing}>{failure}</div>;
  if (!list.isPending && list.total === 0) return <div className={classes.nothing}>{props.empty}</div>;

  return (
    <div className={classes.frame}>
      {failure}
      <div
        ref={mergedRef}
        className={classes.scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={list.total + 1}
        aria-busy={list.isPending || list.isPlaceholder}
        aria-activedescendant={current === undefined ? undefined : `row-${current}`}
        tabIndex={0}
        onKeyDown={move}
      >
        <div role="rowgroup" className={classes.head} data-hidden={hidesHead || undefined}>
          <div role="row" aria-rowindex={1} className={classes.row} style={{ gridTemplateColumns: template }}>
            {selection && (
              <div role="columnheader">
                <SelectAll list={list} rowId={rowId} selection={selection} />
              </div>
            )}
            {shownColumns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = list.rowAt(index);
            return (
              <TableRow
                key={index}
                index={index}
                row={row}
                offset={start}
                height={rowHeight}
                cells={cells}
                template={template}
                isCurrent={index === current}
                isSelected={row === undefined ? undefined : selection?.selected.has(rowId(row))}
                rowName={props.rowName}
                onToggle={toggle}
                onClick={click}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Handlers of clicks on rows, and of the keys of the grid. */
function useRowHandlers<Row extends object>(props: DataTableProps<Row>) {
  const { list, current, onCurrent, onOpen, selection, rowId } = props;
  // Stable callbacks, so that memoized rows rerender only when they change.
  const latest = useRef(props);
  /** The row from which Shift extends the selection. */
  const lastToggled = useRef<number>(undefined);
  useEffect(() => {
    latest.current = props;
  });
  const { toggle, click } = useMemo(
    () => ({
      toggle(row: Row, index: number, extendsSelection: boolean) {
        const { selection: now, rowId: id, list: rows } = latest.current;
        const from = extendsSelection ? lastToggled.current : undefined;
        lastToggled.current = index;
        now?.onChange(
          from === undefined
            ? toggleId(now.selected, id(row))
            : new Set([...now.selected, ...rowsBetween(rows, from, index).map(id)]),
        );
      },
      click(row: Row, index: number) {
        latest.current.onCurrent?.(index);
        latest.current.onOpen?.(row, index);
      },
    }),
    [],
  );
  const move = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'a' && selection !== undefined) {
      event.preventDefault();
      selection.onChange(new Set(loadedRows(list, rowId).map(rowId)));
    }
    const before = current ?? -1;
    const last = list.total - 1;
    const target = { ArrowDown: before + 1, ArrowUp: before - 1, Home: 0, End: last }[event.key];
    if (target !== undefined && onCurrent !== undefined) {
      if (event.key.startsWith('Arrow')) event.preventDefault();
      // The browser also scrolls to the ends, from which the current row may be far; the shortcut would prevent it.
      else event.stopPropagation();
      onCurrent(Math.max(0, Math.min(last, target)));
    }
    const row = current === undefined ? undefined : list.rowAt(current);
    if (
      event.key === 'Enter' &&
      event.target === event.currentTarget &&
      row !== undefined &&
      current !== undefined
    )
      onOpen?.(row, current);
  };
  return { toggle, click, move };
}

/** @returns the selected columns, or those that fit */
function useShownColumns<Row extends object>(
  { columns, selectedColumns, selection }: DataTableProps<Row>,
  width: number,
) {
  const hasSelection = selection !== undefined;
  const columnVisibility = useMemo(() => {
    const isShown = ({ id, minTableWidth = 0, isHiddenByDefault = false }: Column<Row>) =>
      selectedColumns === undefined
        ? !isHiddenByDefault && minTableWidth <= width
        : selectedColumns.includes(id) && (width >= WIDE_TABLE || minTableWidth <= width);
    return Object.fromEntries(columns.map((column) => [column.id, isShown(column)]));
  }, [columns, selectedColumns, width]);
  const isNarrow = ({ narrow }: Column<Row>) =>
    narrow !== undefined && width < (narrow.below ?? NARROW_TABLE);
  const definitions = useMemo(
    () =>
      columns.map(({ id, header, cell }): ColumnDef<typeof features, Row> => ({
        id,
        header,
        cell: ({ row }) => cell(row.original),
      })),
    [columns],
  );
  // The table gets no rows: with them, each loaded page would rebuild its row model.
  const table = useTable({
    features,
    columns: definitions,
    data: NO_ROWS as Row[],
    state: { columnVisibility },
  });
  const idsOf = (some: readonly { id: string }[]) => some.map(({ id }) => id).join(' ');
  const ids = idsOf(table.getVisibleLeafColumns());
  const narrowIds = idsOf(columns.filter(isNarrow));
  return useMemo(() => {
    const visible = new Set(ids.split(' '));
    const narrow = new Set(narrowIds.split(' '));
    const shownColumns = columns
      .filter(({ id }) => visible.has(id))
      .map((column) => (narrow.has(column.id) ? { ...column, ...column.narrow } : column));
    return {
      shown: shownColumns,
      cells: shownColumns.map(({ id, isNumeric, cell }) => ({ id, isNumeric, cell })),
      template: `${hasSelection ? '24px ' : ''}${shownColumns.map((column) => column.width).join(' ')}`,
    };
  }, [columns, ids, narrowIds, hasSelection]);
}

const NO_ROWS: readonly object[] = [];

/** @returns the loaded rows from one index to another, in either direction */
function rowsBetween<Row>(list: PagedList<Row>, from: number, to: number): Row[] {
  const first = Math.min(from, to);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, offset) => list.rowAt(first + offset)).filter(
    (row) => row !== undefined,
  );
}

/** @returns the ids, with this one added or removed */
export function toggleId(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}
