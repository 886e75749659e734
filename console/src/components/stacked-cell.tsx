import type { ReactNode } from 'react';
import classes from './data-table.module.css';

interface StackedCellProps {
  /** Shown below, in a smaller size. */
  secondary: ReactNode;
  children: ReactNode;
}

/** Two values in one cell, for tables too narrow for two columns. */
export function StackedCell({ secondary, children }: StackedCellProps) {
  return (
    <>
      <div className={classes.line}>{children}</div>
      <div className={classes.second}>{secondary}</div>
    </>
  );
}
