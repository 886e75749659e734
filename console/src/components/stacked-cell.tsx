import type { ReactNode } from 'react';
import classes from './data-table.module.css';

interface StackedCellProps {
  /** In small letters below. */
  secondary: ReactNode;
  children: ReactNode;
}

/** Two things in one cell, one below the other, where there is no room for a column of each. */
export function StackedCell({ secondary, children }: StackedCellProps) {
  return (
    <>
      <div className={classes.line}>{children}</div>
      <div className={classes.second}>{secondary}</div>
    </>
  );
}
