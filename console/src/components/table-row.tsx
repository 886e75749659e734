import { Skeleton } from '@mantine/core';
import { memo, type MouseEvent as ReactMouseEvent, type ReactNode } from 'react';
import classes from './data-table.module.css';
import { commonMessages } from './messages.ts';

interface RowCell<Row> {
  id: string;
  isNumeric?: boolean | undefined;
  cell: (row: Row) => ReactNode;
}

interface TableRowProps<Row> {
  index: number;
  /** The `aria-rowindex`. */
  rowIndex: number;
  /** Undefined until it is loaded. */
  row: Row | undefined;
  /** Pixels from the top of the table. */
  offset: number;
  /** Pixels. */
  height: number;
  cells: readonly RowCell<Row>[];
  /** `grid-template-columns`. */
  template: string;
  isCurrent: boolean;
  /** Undefined if rows cannot be selected. */
  isSelected?: boolean | undefined;
  rowName: (row: Row) => string;
  /** Selects the row, or extends the selection to it. */
  onToggle: (row: Row, index: number, extendsSelection: boolean) => void;
  onClick: (row: Row, index: number) => void;
}

/** A row of a table, memoized because scrolling renders many. */
export const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
  const {
    index,
    rowIndex,
    row,
    offset,
    height,
    cells,
    template,
    isCurrent,
    isSelected,
    rowName,
    onToggle,
    onClick,
  } = props;
  const style = { gridTemplateColumns: template, height, transform: `translateY(${offset}px)` };
  if (row === undefined)
    return (
      <div
        id={`row-${index}`}
        role="row"
        aria-rowindex={rowIndex}
        data-current={isCurrent || undefined}
        className={classes.row}
        style={style}
      >
        <div role="gridcell" className={classes.waiting}>
          <Skeleton height={12} />
        </div>
      </div>
    );
  const handleClick = (event: ReactMouseEvent) => {
    // Links, buttons and checkboxes handle their own clicks.
    if ((event.target as HTMLElement).closest('a, button, input, label') === null) onClick(row, index);
  };
  return (
    <div
      id={`row-${index}`}
      role="row"
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-current={isCurrent || undefined}
      className={classes.row}
      style={style}
      onClick={handleClick}
    >
      {isSelected !== undefined && (
        <div role="gridcell" className={classes.choice}>
          <label>
            <input
              type="checkbox"
              aria-label={commonMessages.list.select(rowName(row))}
              checked={isSelected}
              onChange={({ nativeEvent }) =>
                onToggle(row, index, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
              }
            />
          </label>
        </div>
      )}
      {cells.map(({ id, isNumeric, cell }) => (
        <div key={id} role="gridcell" className={classes.cell} data-numeric={isNumeric}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
