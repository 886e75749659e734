import { Alert, Button, Checkbox, Skeleton, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { columnVisibilityFeature, type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { List } from '../api/list.ts';
import { errorText } from './notices.tsx';
import classes from './rows-table.module.css';

const features = tableFeatures({ columnVisibilityFeature });
/** Beyond what is seen, so that scrolling shows no gap; with a window's rows well under 200 in the document. */
const OVERSCAN = 12;
const ROW_HEIGHT = 40;
/** Rows that are read before somebody scrolls to them. */
const AHEAD = 100;

/** A column of a table: its `id` and `header`, and how a row is shown in it. */
export interface Column<Row> {
  id: string;
  header: string;
  /** Of the grid: `120px`, `minmax(200px, 1fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** Whether the list can be ordered by it, by the name in the API. */
  sort?: string;
  /** The least room, in pixels, that the table must have for it; shown in any unless told. */
  from?: number;
}

/** Which rows are chosen, by their ids. */
export interface Choice {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

interface RowsTableProps<Row> {
  /** What is listed, for screen readers. */
  label: string;
  list: List<Row>;
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  /** How a row is called where its checkbox is. */
  rowName: (row: Row) => string;
  /** The row that keys act on; moved by the arrow keys, by `j` and `k` where the place says so. */
  current?: number | undefined;
  onCurrent?: (index: number) => void;
  onOpen?: (row: Row, index: number) => void;
  choice?: Choice;
  /** As the API has it: `title`, or `-title` for the other direction. */
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Shown where there is no row. */
  empty: ReactNode;
}

/** A list of any length as a table: only the rows that are seen are in the document, and pages are read as they are needed. */
export function RowsTable<Row extends object>(props: RowsTableProps<Row>) {
  const { label, list, columns, rowId, rowName, current, onCurrent, onOpen, choice } = props;
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
  const last = Math.min(list.total, (items.at(-1)?.index ?? 0) + AHEAD);
  useEffect(() => {
    list.need(last - 1);
  }, [list, last]);
  useEffect(() => {
    if (current !== undefined) virtual.scrollToIndex(current);
  }, [current, virtual]);

  const shown = useMemo(() => columns.filter(({ from = 0 }) => from <= width), [columns, width]);
  const definitions = useMemo(
    () =>
      shown.map(({ id, header, cell }): ColumnDef<typeof features, Row> => ({
        id,
        header,
        cell: ({ row }) => cell(row.original),
      })),
    [shown],
  );
  // The window's rows alone: a table over all that were read would be made anew with each page.
  const rows = items.flatMap(({ index }) => list.at(index) ?? []);
  const table = useTable({ features, columns: definitions, data: rows, getRowId: rowId });
  const byId = new Map(table.getRowModel().rows.map((row) => [row.id, row]));

  if (list.error !== null)
    return (
      <Alert color="red" title="The list could not be read">
        {errorText(list.error)}{' '}
        <Button size="compact-sm" variant="light" onClick={list.refresh}>
          Try again
        </Button>
      </Alert>
    );
  if (!list.isPending && list.total === 0) return <>{props.empty}</>;

  const template = {
    gridTemplateColumns: `${choice ? '36px ' : ''}${shown.map((column) => column.width).join(' ')}`,
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && onCurrent !== undefined) {
      event.preventDefault();
      onCurrent(Math.max(0, Math.min(list.total - 1, (current ?? -1) + step)));
    }
    const row = current === undefined ? undefined : list.at(current);
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
      aria-busy={list.isPending}
      aria-activedescendant={current === undefined ? undefined : `row-${current}`}
      tabIndex={0}
      onKeyDown={move}
    >
      <div role="rowgroup" className={classes.head}>
        <div role="row" aria-rowindex={1} className={classes.row} style={template}>
          {choice && (
            <div role="columnheader">
              <ChooseAll list={list} rowId={rowId} choice={choice} />
            </div>
          )}
          {shown.map((column) => (
            <HeaderCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = list.at(index);
          const style = { ...template, transform: `translateY(${start}px)` };
          if (row === undefined)
            return (
              <div key={index} role="row" aria-rowindex={index + 2} className={classes.row} style={style}>
                <div role="gridcell" className={classes.waiting}>
                  <Skeleton height={12} />
                </div>
              </div>
            );
          const id = rowId(row);
          return (
            <div
              key={index}
              id={`row-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={choice ? choice.chosen.has(id) : undefined}
              data-current={index === current || undefined}
              className={classes.row}
              style={style}
              onClick={(event) => {
                // A link, a button or a checkbox in the row does its own.
                if ((event.target as HTMLElement).closest('a, button, input, label') !== null) return;
                onCurrent?.(index);
                onOpen?.(row, index);
              }}
            >
              {choice && (
                <div role="gridcell">
                  <Checkbox
                    size="xs"
                    aria-label={`Choose ${rowName(row)}`}
                    checked={choice.chosen.has(id)}
                    onChange={() => choice.onChange(toggled(choice.chosen, id))}
                  />
                </div>
              )}
              {byId
                .get(id)
                ?.getVisibleCells()
                .map((cell) => (
                  <div key={cell.id} role="gridcell" className={classes.cell}>
                    <table.FlexRender cell={cell} />
                  </div>
                ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function HeaderCell<Row>({
  column: { header, sort: name },
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  if (name === undefined || onSort === undefined)
    return (
      <div role="columnheader" className={classes.cell}>
        {header}
      </div>
    );
  return (
    <div role="columnheader" aria-sort={direction ?? 'none'} className={classes.cell}>
      <UnstyledButton
        className={classes.order}
        onClick={() => onSort(direction === 'descending' ? name : `-${name}`)}
      >
        {header}
        {direction === 'ascending' && <IconArrowUp size={14} aria-hidden />}
        {direction === 'descending' && <IconArrowDown size={14} aria-hidden />}
      </UnstyledButton>
    </div>
  );
}

/** Chooses the rows that were read, or none. */
function ChooseAll<Row>({
  list,
  rowId,
  choice,
}: {
  list: List<Row>;
  rowId: (row: Row) => string;
  choice: Choice;
}) {
  const { chosen, onChange } = choice;
  const all = () => {
    const ids = new Set<string>();
    for (let index = 0; index < list.loaded; index += 1) {
      const row = list.at(index);
      if (row !== undefined) ids.add(rowId(row));
    }
    return ids;
  };
  return (
    <Checkbox
      size="xs"
      aria-label="Choose all that were read"
      checked={chosen.size > 0 && chosen.size >= list.loaded}
      indeterminate={chosen.size > 0 && chosen.size < list.loaded}
      onChange={() => onChange(chosen.size > 0 ? new Set() : all())}
    />
  );
}

function toggled(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return next;
}
