import type { ReactNode } from 'react';
import classes from './data-table.module.css';

interface TwoLinesProps {
  /** In small letters below. */
  second: ReactNode;
  children: ReactNode;
}

/** Two things in one cell, one below the other, where there is no room for a column of each. */
export function TwoLines({ second, children }: TwoLinesProps) {
  return (
    <>
      <div className={classes.line}>{children}</div>
      <div className={classes.second}>{second}</div>
    </>
  );
}
