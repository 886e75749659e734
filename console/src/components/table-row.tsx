import { Skeleton } from '@mantine/core';
import { memo, type MouseEvent, type ReactNode } from 'react';
import classes from './data-table.module.css';

/** How a cell of a column shows its row. */
export interface RowCell<Row> {
  id: string;
  cell: (row: Row) => ReactNode;
}

interface TableRowProps<Row> {
  index: number;
  /** Absent until it was read. */
  row: Row | undefined;
  /** How far below the begin of the table, in pixels. */
  offset: number;
  cells: readonly RowCell<Row>[];
  /** Of the grid. */
  template: string;
  isCurrent: boolean;
  /** Absent where rows are not chosen. */
  isSelected?: boolean | undefined;
  rowName: (row: Row) => string;
  onToggle: (row: Row) => void;
  onClick: (row: Row, index: number) => void;
}

/** One row of a table. It is drawn again only when something about it changes, as many pass by while a list is scrolled. */
export const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
  const { index, row, offset, cells, template, isCurrent, isSelected, rowName, onToggle, onClick } = props;
  const style = { gridTemplateColumns: template, transform: `translateY(${offset}px)` };
  if (row === undefined)
    return (
      <div role="row" aria-rowindex={index + 2} className={classes.row} style={style}>
        <div role="gridcell" className={classes.waiting}>
          <Skeleton height={12} />
        </div>
      </div>
    );
  const hear = (event: MouseEvent) => {
    // A link, a button or a checkbox in the row does its own.
    if ((event.target as HTMLElement).closest('a, button, input, label') === null) onClick(row, index);
  };
  return (
    <div
      id={`row-${index}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-current={isCurrent || undefined}
      className={classes.row}
      style={style}
      onClick={hear}
    >
      {isSelected !== undefined && (
        <div role="gridcell" className={classes.choice}>
          <label>
            <input
              type="checkbox"
              aria-label={`Choose ${rowName(row)}`}
              checked={isSelected}
              onChange={() => onToggle(row)}
            />
          </label>
        </div>
      )}
      {cells.map(({ id, cell }) => (
        <div key={id} role="gridcell" className={classes.cell}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
