/** The head of a group of rows, before the row at `index`. */
export interface GroupHead {
  id: string;
  index: number;
}

/** The positions of rows, and of the heads of their groups, from top to bottom. */
export interface RowLayout {
  /** Number of positions. */
  length: number;
  /** @returns the number of the group whose head is at a position, or the index of the row there */
  at: (position: number) => { head: number } | { row: number };
  /** @returns the position of a row; that of the head of its group if the group is collapsed */
  positionOf: (row: number) => number;
  /** @returns the number of the last group whose head is at a position or before it; -1 if there is none */
  groupAt: (position: number) => number;
  /** @returns the position of the head of a group */
  headAt: (group: number) => number | undefined;
  /** @returns the row, or the nearest one that is in no collapsed group, if possible in this direction */
  nearest: (row: number, direction: 1 | -1) => number;
}

interface Segment {
  /** Position of the head. */
  start: number;
  firstRow: number;
  /** Index after the last row. */
  endRow: number;
  isCollapsed: boolean;
}

/**
 * @param total number of rows
 * @param heads in their order; the first stands before row 0
 */
export function layOutRows(
  total: number,
  heads: readonly GroupHead[],
  collapsed: ReadonlySet<string>,
): RowLayout {
  const segments: Segment[] = [];
  let start = 0;
  heads.forEach(({ id, index: firstRow }, number) => {
    const endRow = Math.max(firstRow, heads[number + 1]?.index ?? total);
    const isCollapsed = collapsed.has(id);
    segments.push({ start, firstRow, endRow, isCollapsed });
    start += 1 + (isCollapsed ? 0 : endRow - firstRow);
  });
  const groupAt = (position: number) => segments.findLastIndex((segment) => segment.start <= position);
  const segmentOf = (row: number) =>
    segments.findLast(({ firstRow, endRow }) => firstRow <= row && row < endRow);
  return {
    length: segments.length === 0 ? total : start,
    groupAt,
    headAt: (group) => segments[group]?.start,
    at(position) {
      const number = groupAt(position);
      const segment = segments[number];
      if (segment === undefined) return { row: position };
      return position === segment.start
        ? { head: number }
        : { row: segment.firstRow + position - segment.start - 1 };
    },
    positionOf(row) {
      const segment = segmentOf(row);
      if (segment === undefined) return row;
      return segment.isCollapsed ? segment.start : segment.start + 1 + row - segment.firstRow;
    },
    nearest(row, direction) {
      if (segmentOf(row)?.isCollapsed !== true) return row;
      const open = segments.filter(({ isCollapsed, firstRow, endRow }) => !isCollapsed && firstRow < endRow);
      const next = open.find(({ firstRow }) => firstRow > row)?.firstRow;
      const previous = open.findLast(({ endRow }) => endRow <= row)?.endRow;
      const last = previous === undefined ? undefined : previous - 1;
      return (direction === 1 ? (next ?? last) : (last ?? next)) ?? row;
    },
  };
}
