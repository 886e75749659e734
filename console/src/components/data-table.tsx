import { Alert, Button } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { loadedRows, type PagedList } from '../queries/paged-list.ts';
import { errorText } from './notifications.ts';
import { useIsPrinting } from './printing.ts';
import { SelectAll, HeaderCell } from './table-head.tsx';
import { GroupHeadRow, type RowGroups } from './row-groups.tsx';
import { layOutRows, type RowLayout } from './row-layout.ts';
import { type RowSelection, type Column, toggleId } from './table-column.tsx';
import { TableRow } from './table-row.tsx';
import classes from './data-table.module.css';
import { commonMessages } from './messages.ts';

/** Rows rendered beyond the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 10;
/** Pixels. */
const ROW_HEIGHT = 40;
/** Pixels of the head of a group, and of that of the table. */
const GROUP_HEIGHT = 36;
const HEAD_HEIGHT = 33;
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
  groups?: RowGroups;
  /** Content below the cells of the expanded row. */
  details?: { /** Its id. */ expanded: string | undefined; render: (row: Row) => ReactNode };
  /** Shown if there are no rows. */
  empty: ReactNode;
}

/** A virtualized table of a paged list: renders the visible rows only, and loads pages on demand. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, list, rowId, current, selection, rowHeight = ROW_HEIGHT, hidesHead = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { ref: frame, width } = useElementSize<HTMLDivElement>();
  const mergedRef = useMergedRef(scroller, frame);
  const { groups, details } = props;
  const layout = useMemo(
    () => groups?.layout ?? layOutRows(list.total, [], new Set()),
    [groups?.layout, list.total],
  );
  const isPrinting = useIsPrinting();
  const topHeight = hidesHead ? 0 : HEAD_HEIGHT;
  const virtual = useVirtualizer({
    count: layout.length,
    getScrollElement: () => scroller.current,
    estimateSize: (position) => ('head' in layout.at(position) ? GROUP_HEIGHT : rowHeight),
    overscan: OVERSCAN,
    scrollPaddingStart: groups === undefined ? 0 : GROUP_HEIGHT,
    scrollPaddingEnd: topHeight,
    rangeExtractor(range) {
      if (isPrinting) return printedPositions(layout, list);
      const sticky = stickyPosition(layout, range.startIndex);
      const positions = defaultRangeExtractor(range);
      return sticky === undefined || positions.includes(sticky) ? positions : [sticky, ...positions];
    },
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight, layout, isPrinting]);
  const items = virtual.getVirtualItems();
  const shownRows = items.flatMap(({ index }) => {
    const position = layout.at(index);
    return 'row' in position ? [position.row] : [];
  });
  const first = shownRows[0] ?? 0;
  const last = shownRows.at(-1) ?? 0;
  const stickyHead = stickyPosition(layout, virtual.range?.startIndex ?? 0);
  const { isScrolling } = virtual;
  useEffect(() => {
    list.load(first, last, isScrolling);
  }, [list, first, last, isScrolling]);
  useEffect(() => {
    if (current !== undefined) virtual.scrollToIndex(layout.positionOf(current));
    // Not whenever the layout changes: it does while pages load.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [current, virtual]);
  useEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [list.listId]);

  const { shown: shownColumns, cells, template } = useShownColumns(props, width);
  const { toggle, click, move } = useRowHandlers(props);

  const failure = list.error !== null && (
    <Alert color="red" title={commonMessages.list.loadFailed} flex="none">
      {errorText(list.error)}{' '}
      <Button size="xs" variant="default" onClick={list.retry}>
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
        aria-rowcount={layout.length + 1}
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
          {items.map(({ index: position, start }) => {
            const shown = layout.at(position);
            if ('head' in shown) {
              const group = groups?.groups[shown.head];
              const isSticky = position === stickyHead;
              return (
                group !== undefined && (
                  <GroupHeadRow
                    key={group.id}
                    group={group}
                    isCollapsed={groups?.collapsed.has(group.id) === true}
                    rowIndex={position + 2}
                    isSticky={isSticky}
                    style={isSticky ? { top: topHeight } : { transform: `translateY(${start}px)` }}
                    onToggle={() => groups?.toggle(group.id)}
                  />
                )
              );
            }
            const index = shown.row;
            const row = list.rowAt(index);
            return (
              <TableRow
                key={index}
                index={index}
                rowIndex={position + 2}
                row={row}
                offset={start}
                height={rowHeight}
                cells={cells}
                template={template}
                isCurrent={index === current}
                isSelected={row === undefined ? undefined : selection?.selected.has(rowId(row))}
                {...(details === undefined || row === undefined
                  ? {}
                  : {
                      position,
                      measure: virtual.measureElement,
                      details: details.expanded === rowId(row) && details.render(row),
                    })}
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

/** Rows of a print. */
const MAX_PRINTED = 200;

/** @returns the positions of the first rows that have loaded, with the heads of their groups */
function printedPositions(layout: RowLayout, { rowAt }: Pick<PagedList<object>, 'rowAt'>): number[] {
  const positions = [];
  for (let index = 0; index < Math.min(layout.length, MAX_PRINTED); index += 1) {
    const position = layout.at(index);
    if ('row' in position && rowAt(position.row) === undefined) break;
    positions.push(index);
  }
  return positions;
}

/** @returns the position of the head of the group at the top, which stays there */
function stickyPosition(layout: RowLayout, top: number): number | undefined {
  const group = layout.groupAt(top);
  return group < 0 ? undefined : layout.headAt(group);
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
  const isShown = ({ id, minTableWidth = 0, isHiddenByDefault = false }: Column<Row>) =>
    selectedColumns === undefined
      ? !isHiddenByDefault && minTableWidth <= width
      : selectedColumns.includes(id) && (width >= WIDE_TABLE || minTableWidth <= width);
  const isNarrow = ({ narrow }: Column<Row>) =>
    narrow !== undefined && width < (narrow.below ?? NARROW_TABLE);
  // Another width shows other columns only at some widths.
  const variant = columns.map((column) => (isShown(column) ? (isNarrow(column) ? 2 : 1) : 0)).join('');
  return useMemo(() => {
    const shown = columns.flatMap((column, index) => {
      const kind = variant[index];
      if (kind === '0') return [];
      return [kind === '2' ? { ...column, ...column.narrow } : column];
    });
    return {
      shown,
      cells: shown.map(({ id, isNumeric, cell }) => ({ id, isNumeric, cell })),
      template: `${hasSelection ? '24px ' : ''}${shown.map((column) => column.width).join(' ')}`,
    };
  }, [columns, variant, hasSelection]);
}

/** @returns the loaded rows from one index to another, in either direction */
function rowsBetween<Row>(list: PagedList<Row>, from: number, to: number): Row[] {
  const first = Math.min(from, to);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, offset) => list.rowAt(first + offset)).filter(
    (row) => row !== undefined,
  );
}
