import type { ReactNode } from 'react';

/** A column of a table. */
export interface Column<Row> {
  id: string;
  header: string;
  /** Explains the header, as a tooltip. */
  description?: string;
  /** Grid track: `120px`, `minmax(200px, 1fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** The sort name in the API, if the list can be sorted by it. */
  sort?: string;
  /** Minimum width of the table, in pixels, at which the column is shown. */
  minTableWidth?: number;
  isHiddenByDefault?: boolean;
  /** Variant for narrow tables, optionally without a visible header. */
  narrow?: { width?: string; cell: (row: Row) => ReactNode; hidesHeader?: boolean };
}

/** Ids of the selected rows. */
export interface RowSelection {
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
}
