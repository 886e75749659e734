import { ActionIcon, Button, Kbd } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { commonMessages } from './messages.ts';
import classes from './selection-bar.module.css';

interface SelectionAction {
  label: string;
  /** The key of its shortcut. */
  shortcut?: string;
  run: () => void;
}

interface SelectionBarProps {
  count: number;
  /** Number of rows of the list; undefined until it is counted. */
  total: number | undefined;
  actions: readonly SelectionAction[];
  /** Why there are no actions. */
  hint?: string | undefined;
  onClear: () => void;
}

/** The actions on the selected rows, above the end of their list. */
export function SelectionBar({ count, total, actions, hint, onClear }: SelectionBarProps) {
  return (
    <div className={classes.bar} role="toolbar" aria-label={commonMessages.list.selectionActions}>
      <span role="status" className={classes.count}>
        <strong>{commonMessages.list.selected(count)}</strong>
        {total !== undefined && ` ${commonMessages.list.ofTotal(total)}`}
      </span>
      {hint !== undefined && <span className={classes.hint}>{hint}</span>}
      {actions.map(({ label, shortcut, run }) => (
        <Button
          key={label}
          variant="subtle"
          color="gray"
          flex="none"
          onClick={run}
          rightSection={
            shortcut !== undefined && (
              <Kbd size="xs" tt="uppercase" aria-hidden>
                {shortcut}
              </Kbd>
            )
          }
        >
          {label}
        </Button>
      ))}
      <ActionIcon
        variant="subtle"
        color="gray"
        size={32}
        aria-label={commonMessages.list.clearSelection}
        onClick={onClear}
      >
        <IconX size={16} aria-hidden />
      </ActionIcon>
    </div>
  );
}
