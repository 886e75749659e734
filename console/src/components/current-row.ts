import { useState } from 'react';
import type { PagedList } from '../queries/paged-list.ts';
import { type Shortcuts, useShortcuts } from '../app/shortcuts.tsx';
import { commonMessages } from './messages.ts';

interface CurrentRow<Row> {
  /** Index of the current row. */
  current: number | undefined;
  setCurrent: (index: number | undefined) => void;
  row: Row | undefined;
  /** @returns the index of the row at an offset from the current one */
  offsetIndex: (offset: number) => number;
}

/** The row of a list that keyboard shortcuts act on. */
export function useCurrentRow<Row>(list: PagedList<Row>): CurrentRow<Row> {
  const [wanted, setCurrent] = useState<number>();
  // Rows may have been deleted before the last ones were read.
  const current =
    wanted !== undefined && list.isCounted && !list.isPending ? Math.min(wanted, list.total - 1) : wanted;
  return {
    current,
    setCurrent,
    row: current === undefined ? undefined : list.rowAt(current),
    offsetIndex: (offset) =>
      Math.max(0, Math.min(list.total - 1, (current ?? (offset > 0 ? -1 : 1)) + offset)),
  };
}

interface RowShortcuts<Row> {
  /** Noun for a row: "asset". */
  itemName: string;
  /** Called with the row that `j`, `k`, Home and End go to; by default it becomes the current one. */
  onStep?: (index: number) => void;
  /** Action of `o` on the current row. */
  open: { label?: string; run: (row: Row) => void };
  shortcuts?: Shortcuts;
}

/** Adds shortcuts that move through a list and open a row. */
export function useRowShortcuts<Row>(
  { row, offsetIndex, setCurrent }: CurrentRow<Row>,
  { itemName, onStep = setCurrent, open, shortcuts = {} }: RowShortcuts<Row>,
): void {
  const { next, previous, first, last } = commonMessages.list;
  useShortcuts({
    j: { label: next(itemName), run: () => onStep(offsetIndex(1)) },
    k: { label: previous(itemName), run: () => onStep(offsetIndex(-1)) },
    Home: { label: first(itemName), run: () => onStep(offsetIndex(-Infinity)) },
    End: { label: last(itemName), run: () => onStep(offsetIndex(Infinity)) },
    o: { label: open.label ?? 'Open', run: () => row !== undefined && open.run(row) },
    ...shortcuts,
  });
}
