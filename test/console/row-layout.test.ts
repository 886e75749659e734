import { describe, expect, it } from 'vitest';
import { layOutRows } from '../../console/src/components/row-layout.ts';

const HEADS = [
  { id: 'critical', index: 0 },
  { id: 'high', index: 2 },
  { id: 'low', index: 5 },
];

describe('layOutRows', () => {
  it('puts a head before the rows of each group', () => {
    const layout = layOutRows(6, HEADS, new Set());
    expect(Array.from({ length: layout.length }, (_, position) => layout.at(position))).toEqual([
      { head: 0 },
      { row: 0 },
      { row: 1 },
      { head: 1 },
      { row: 2 },
      { row: 3 },
      { row: 4 },
      { head: 2 },
      { row: 5 },
    ]);
    expect([0, 1, 2, 3, 4, 5].map(layout.positionOf)).toEqual([1, 2, 4, 5, 6, 8]);
    expect([0, 2, 3, 6, 7].map(layout.groupAt)).toEqual([0, 0, 1, 1, 2]);
    expect([0, 1, 2].map(layout.headAt)).toEqual([0, 3, 7]);
  });

  it('leaves out the rows of collapsed groups, and steps over them', () => {
    const layout = layOutRows(6, HEADS, new Set(['high']));
    expect(Array.from({ length: layout.length }, (_, position) => layout.at(position))).toEqual([
      { head: 0 },
      { row: 0 },
      { row: 1 },
      { head: 1 },
      { head: 2 },
      { row: 5 },
    ]);
    expect(layout.positionOf(3)).toBe(3);
    expect(layout.nearest(2, 1)).toBe(5);
    expect(layout.nearest(4, -1)).toBe(1);
    expect(layout.nearest(1, 1)).toBe(1);
  });

  it('turns around where all groups in a direction are collapsed', () => {
    const layout = layOutRows(6, HEADS, new Set(['critical', 'low']));
    expect(layout.nearest(0, -1)).toBe(2);
    expect(layout.nearest(5, 1)).toBe(4);
    expect(layOutRows(6, HEADS, new Set(['critical', 'high', 'low'])).nearest(3, 1)).toBe(3);
  });

  it('shows rows only without groups', () => {
    const layout = layOutRows(3, [], new Set());
    expect(layout.length).toBe(3);
    expect(layout.at(2)).toEqual({ row: 2 });
    expect(layout.positionOf(2)).toBe(2);
    expect(layout.groupAt(2)).toBe(-1);
    expect(layout.headAt(-1)).toBeUndefined();
  });

  it('accepts empty groups, and rows that no group counts', () => {
    const layout = layOutRows(
      4,
      [
        { id: 'a', index: 0 },
        { id: 'b', index: 1 },
        { id: 'c', index: 1 },
      ],
      new Set(),
    );
    expect(Array.from({ length: layout.length }, (_, position) => layout.at(position))).toEqual([
      { head: 0 },
      { row: 0 },
      { head: 1 },
      { head: 2 },
      { row: 1 },
      { row: 2 },
      { row: 3 },
    ]);
  });
});
