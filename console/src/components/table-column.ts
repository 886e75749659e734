import type { ReactNode } from 'react';

/** A column of a table: its `id` and `header`, and how a row is shown in it. */
export interface Column<Row> {
  id: string;
  header: string;
  /** What the header means, where it does not say it: on hovering. */
  description?: string;
  /** Of the grid: `120px`, `minmax(200px, 1fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** Whether the list can be ordered by it, by the name in the API. */
  sort?: string;
  /** The least room, in pixels, that the table must have for it; shown in any unless told. */
  minTableWidth?: number;
  /** Whether it is shown only when it is asked for. */
  isHiddenByDefault?: boolean;
  /** How it is shown where there is little room, as on a phone; its header then is told to screen readers alone where it says so. */
  narrow?: { width?: string; cell: (row: Row) => ReactNode; hidesHeader?: boolean };
}

/** Which rows are chosen, by their ids. */
export interface RowSelection {
  selected: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}
