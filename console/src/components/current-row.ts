import { useState } from 'react';
import type { List } from '../queries/paged-list.ts';
import { type Shortcuts, useShortcuts } from '../app/shortcuts.tsx';

interface CurrentRow<Row> {
  /** Its index; `undefined` while there is none. */
  current: number | undefined;
  setCurrent: (index: number | undefined) => void;
  row: Row | undefined;
  /** @returns the index as many rows on, within what was read */
  stepped: (by: number) => number;
}

/** The row of a list that keys act on. */
export function useCurrentRow<Row>(list: List<Row>): CurrentRow<Row> {
  const [current, setCurrent] = useState<number>();
  return {
    current,
    setCurrent,
    row: current === undefined ? undefined : list.at(current),
    stepped: (by) => Math.max(0, Math.min(list.loaded - 1, (current ?? (by > 0 ? -1 : 1)) + by)),
  };
}

interface RowKeys<Row> {
  /** What a row is called: `Next asset`. */
  noun: string;
  /** What becomes of the row that `j` and `k` go to; it becomes the current one unless told. */
  onStep?: (index: number) => void;
  /** What `o` does with the current row, and how the help calls it. */
  open: { label?: string; run: (row: Row) => void };
  /** What other keys do. */
  others?: Shortcuts;
}

/** Lets keys move through a list and open a row of it. */
export function useRowKeys<Row>(
  { row, stepped, setCurrent }: CurrentRow<Row>,
  { noun, onStep = setCurrent, open, others = {} }: RowKeys<Row>,
): void {
  useShortcuts({
    j: { label: `Next ${noun}`, run: () => onStep(stepped(1)) },
    k: { label: `${(noun[0] ?? '').toUpperCase()}${noun.slice(1)} before`, run: () => onStep(stepped(-1)) },
    o: { label: open.label ?? 'Open it', run: () => row !== undefined && open.run(row) },
    ...others,
  });
}
