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
  /** Shown below the cells; `false` while the row is not expanded, and undefined if rows cannot be. */
  details?: ReactNode;
  /** The position in the table, and a ref with which the virtualizer measures the row, if rows can be expanded. */
  position?: number;
  measure?: (element: Element | null) => void;
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
    details,
    position,
    measure,
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
    // Links, buttons and checkboxes handle their own clicks, and details can be selected and copied.
    if ((event.target as HTMLElement).closest('a, button, input, label, [data-details]') === null)
      onClick(row, index);
  };
  const expands = details !== undefined;
  return (
    <div
      ref={measure}
      id={`row-${index}`}
      role="row"
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-index={position}
      data-current={isCurrent || undefined}
      className={classes.row}
      style={expands ? { ...style, height: 'auto', gridTemplateRows: `${height - 1}px` } : style}
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
      {expands && details !== false && (
        <div role="gridcell" className={classes.waiting} data-details>
          {details}
        </div>
      )}
    </div>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
