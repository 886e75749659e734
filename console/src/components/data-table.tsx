import { Alert, Button } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { columnVisibilityFeature, type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { PagedList } from '../queries/paged-list.ts';
import { errorText } from './notifications.tsx';
import { SelectAll, HeaderCell } from './table-head.tsx';
import type { RowSelection, Column } from './table-column.ts';
import { TableRow } from './table-row.tsx';
import classes from './data-table.module.css';

const features = tableFeatures({ columnVisibilityFeature });
/** Beyond what is seen, so that scrolling shows no gap; with a window's rows well under 200 in the document. */
const OVERSCAN = 10;
const ROW_HEIGHT = 40;
/** Rows that are read before somebody scrolls to them. */
const PREFETCH_ROWS = 400;
/** A table that is narrower than this shows the columns that it has room for, whichever were asked for. */
const WIDE_TABLE = 620;
/** A table that is narrower than this shows the narrow form of its columns. */
const NARROW_TABLE = 400;

interface DataTableProps<Row> {
  /** What is listed, for screen readers. */
  label: string;
  list: PagedList<Row>;
  columns: readonly Column<Row>[];
  /** The ids of the columns that were asked for; those that there is room for unless told. */
  selectedColumns?: readonly string[] | undefined;
  rowId: (row: Row) => string;
  /** How a row is called where its checkbox is. */
  rowName: (row: Row) => string;
  /** The row that keys act on; moved by the arrow keys, by `j` and `k` where the place says so. */
  current?: number | undefined;
  onCurrent?: (index: number) => void;
  onOpen?: (row: Row, index: number) => void;
  selection?: RowSelection;
  /** As the API has it: `title`, or `-title` for the other direction. */
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Shown where there is no row. */
  empty: ReactNode;
}

/** A list of any length as a table: only the rows that are seen are in the document, and pages are read as they are needed. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, list, rowId, current, onCurrent, onOpen, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { ref: frame, width } = useElementSize<HTMLDivElement>();
  const both = useMergedRef(scroller, frame);
  const virtual = useVirtualizer({
    count: list.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const last = Math.min(list.total, (items.at(-1)?.index ?? 0) + PREFETCH_ROWS);
  useEffect(() => {
    list.loadUntil(last - 1);
  }, [list, last]);
  useEffect(() => {
    if (current !== undefined) virtual.scrollToIndex(current);
  }, [current, virtual]);
  useEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [list.listId]);

  const { shown, cells, template } = useShownColumns(props, width);
  // What rows call is the same function always, so that a row is drawn again only when it changes itself.
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const { toggle, click } = useMemo(
    () => ({
      toggle(row: Row) {
        const { selection: now, rowId: id } = latest.current;
        now?.onChange(toggleId(now.selected, id(row)));
      },
      click(row: Row, index: number) {
        latest.current.onCurrent?.(index);
        latest.current.onOpen?.(row, index);
      },
    }),
    [],
  );

  if (list.error !== null)
    return (
      <Alert color="red" title="The list could not be read">
        {errorText(list.error)}{' '}
        <Button size="compact-sm" variant="light" onClick={list.refresh}>
          Try again
        </Button>
      </Alert>
    );
  if (!list.isPending && list.total === 0) return <div className={classes.nothing}>{props.empty}</div>;

  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && onCurrent !== undefined) {
      event.preventDefault();
      onCurrent(Math.max(0, Math.min(list.total - 1, (current ?? -1) + step)));
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
  return (
    <div
      ref={both}
      className={classes.scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={list.total + 1}
      aria-busy={list.isPending || list.isPlaceholder}
      aria-activedescendant={current === undefined ? undefined : `row-${current}`}
      tabIndex={0}
      onKeyDown={move}
    >
      <div role="rowgroup" className={classes.head}>
        <div role="row" aria-rowindex={1} className={classes.row} style={{ gridTemplateColumns: template }}>
          {selection && (
            <div role="columnheader">
              <SelectAll list={list} rowId={rowId} selection={selection} />
            </div>
          )}
          {shown.map((column) => (
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
  );
}

/** The columns that a table shows: those that were asked for, else those that there is room for. */
function useShownColumns<Row extends object>(
  { columns, selectedColumns, selection }: DataTableProps<Row>,
  width: number,
) {
  const hasChoice = selection !== undefined;
  const columnVisibility = useMemo(() => {
    const isShown = ({ id, minTableWidth = 0, isHiddenByDefault = false }: Column<Row>) =>
      selectedColumns === undefined
        ? !isHiddenByDefault && minTableWidth <= width
        : selectedColumns.includes(id) && (width >= WIDE_TABLE || minTableWidth <= width);
    return Object.fromEntries(columns.map((column) => [column.id, isShown(column)]));
  }, [columns, selectedColumns, width]);
  const isNarrow = width < NARROW_TABLE;
  const definitions = useMemo(
    () =>
      columns.map(({ id, header, cell }): ColumnDef<typeof features, Row> => ({
        id,
        header,
        cell: ({ row }) => cell(row.original),
      })),
    [columns],
  );
  // The rows are not the table's: one over all that were read would be made anew with each page.
  const table = useTable({
    features,
    columns: definitions,
    data: NO_ROWS as Row[],
    state: { columnVisibility },
  });
  const ids = table
    .getVisibleLeafColumns()
    .map(({ id }) => id)
    .join(' ');
  return useMemo(() => {
    const visible = new Set(ids.split(' '));
    const shown = columns
      .filter(({ id }) => visible.has(id))
      .map((column) => (isNarrow ? { ...column, ...column.narrow } : { ...column, hidesHeader: false }));
    return {
      shown,
      cells: shown.map(({ id, cell }) => ({ id, cell })),
      template: `${hasChoice ? '24px ' : ''}${shown.map((column) => column.width).join(' ')}`,
    };
  }, [columns, ids, hasChoice, isNarrow]);
}

const NO_ROWS: readonly object[] = [];

/** @returns the ids with this one among them, or without it where it was */
export function toggleId(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return next;
}
