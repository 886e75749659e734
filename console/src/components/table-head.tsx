import { Checkbox, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { loadedRows, type PagedList } from '../queries/paged-list.ts';
import type { RowSelection, Column } from './table-column.tsx';
import classes from './data-table.module.css';
import { commonMessages } from './messages.ts';

interface HeaderCellProps<Row> {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

/** The header of a column; sorts the list if the column allows it. */
export function HeaderCell<Row>({ column, sort, onSort }: HeaderCellProps<Row>) {
  const { sort: name, hidesHeader = false } = column;
  const header = hidesHeader ? <VisuallyHidden>{column.header}</VisuallyHidden> : column.header;
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  if (name === undefined || onSort === undefined)
    return (
      <div
        role="columnheader"
        className={classes.cell}
        title={column.description}
        data-buttons={column.id === 'actions' || undefined}
        data-numeric={column.isNumeric}
      >
        {header}
      </div>
    );
  return (
    <div
      role="columnheader"
      aria-sort={direction ?? 'none'}
      className={classes.cell}
      data-numeric={column.isNumeric}
    >
      <UnstyledButton
        className={classes.order}
        onClick={() => onSort(direction === 'descending' ? name : `-${name}`)}
      >
        {header}
        {direction === 'ascending' && <IconArrowUp size={14} aria-hidden />}
        {direction === 'descending' && <IconArrowDown size={14} aria-hidden />}
        {/* A hidden header still shows that it sorts. */}
        {direction === undefined && hidesHeader && <IconArrowsSort size={14} aria-hidden />}
      </UnstyledButton>
    </div>
  );
}

interface SelectAllProps<Row> {
  list: PagedList<Row>;
  rowId: (row: Row) => string;
  selection: RowSelection;
}

/** Selects all loaded rows, or none. */
export function SelectAll<Row>({ list, rowId, selection: { selected, onChange } }: SelectAllProps<Row>) {
  return (
    <Checkbox
      size="xs"
      aria-label={commonMessages.list.selectLoaded}
      checked={selected.size > 0 && selected.size >= list.loadedCount}
      indeterminate={selected.size > 0 && selected.size < list.loadedCount}
      onChange={() => onChange(selected.size > 0 ? new Set() : new Set(loadedRows(list, rowId).map(rowId)))}
    />
  );
}
