import { UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type CSSProperties, type ReactNode, useMemo, useState } from 'react';
import { commonMessages } from './messages.ts';
import { type GroupHead, layOutRows, type RowLayout } from './row-layout.ts';
import { toggleId } from './table-column.tsx';
import classes from './data-table.module.css';

interface RowGroup extends GroupHead {
  count: number;
  label: ReactNode;
}

/** The groups of a table. */
export interface RowGroups {
  groups: readonly RowGroup[];
  collapsed: ReadonlySet<string>;
  toggle: (id: string) => void;
  layout: RowLayout;
}

/** @param total number of rows of all groups */
export function useRowGroups(groups: readonly RowGroup[], total: number): RowGroups {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const layout = useMemo(() => layOutRows(total, groups, collapsed), [total, groups, collapsed]);
  return { groups, collapsed, layout, toggle: (id) => setCollapsed((now) => toggleId(now, id)) };
}

interface GroupHeadRowProps {
  group: RowGroup;
  isCollapsed: boolean;
  /** The `aria-rowindex`. */
  rowIndex: number;
  /** Whether it stays at the top while its rows are scrolled. */
  isSticky: boolean;
  style: CSSProperties;
  onToggle: () => void;
}

/** The head of a group: collapses and expands its rows. */
export const GroupHeadRow = ({
  group,
  isCollapsed,
  rowIndex,
  isSticky,
  style,
  onToggle,
}: GroupHeadRowProps) => (
  <div
    role="row"
    aria-rowindex={rowIndex}
    className={classes.group}
    data-sticky={isSticky || undefined}
    style={style}
  >
    <div role="gridcell">
      <UnstyledButton className={classes.groupButton} aria-expanded={!isCollapsed} onClick={onToggle}>
        {isCollapsed ? <IconChevronRight size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />}
        {group.label}{' '}
        <span className={classes.groupCount}>{commonMessages.list.groupCount(group.count)}</span>
      </UnstyledButton>
    </div>
  </div>
);
