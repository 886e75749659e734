import { useState } from 'react';
import type { PagedList } from '../queries/paged-list.ts';
import { type Shortcuts, useShortcuts } from '../app/shortcuts.tsx';

interface CurrentRow<Row> {
  /** Its index; `undefined` while there is none. */
  current: number | undefined;
  setCurrent: (index: number | undefined) => void;
  row: Row | undefined;
  /** @returns the index as many rows on, within what was read */
  offsetIndex: (by: number) => number;
}

/** The row of a list that keys act on. */
export function useCurrentRow<Row>(list: PagedList<Row>): CurrentRow<Row> {
  const [current, setCurrent] = useState<number>();
  return {
    current,
    setCurrent,
    row: current === undefined ? undefined : list.rowAt(current),
    offsetIndex: (by) => Math.max(0, Math.min(list.loadedCount - 1, (current ?? (by > 0 ? -1 : 1)) + by)),
  };
}

interface RowShortcuts<Row> {
  /** What a row is called: `Next asset`. */
  itemName: string;
  /** What becomes of the row that `j` and `k` go to; it becomes the current one unless told. */
  onStep?: (index: number) => void;
  /** What `o` does with the current row, and how the help calls it. */
  open: { label?: string; run: (row: Row) => void };
  /** What other keys do. */
  shortcuts?: Shortcuts;
}

/** Lets keys move through a list and open a row of it. */
export function useRowShortcuts<Row>(
  { row, offsetIndex, setCurrent }: CurrentRow<Row>,
  { itemName, onStep = setCurrent, open, shortcuts: others = {} }: RowShortcuts<Row>,
): void {
  useShortcuts({
    j: { label: `Next ${itemName}`, run: () => onStep(offsetIndex(1)) },
    k: {
      label: `${(itemName[0] ?? '').toUpperCase()}${itemName.slice(1)} before`,
      run: () => onStep(offsetIndex(-1)),
    },
    o: { label: open.label ?? 'Open it', run: () => row !== undefined && open.run(row) },
    ...others,
  });
}
