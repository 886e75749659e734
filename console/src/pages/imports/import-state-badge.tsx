import { IconArrowBackUp, IconBan, IconCheck, IconClock, IconPlayerPlay, IconX } from '@tabler/icons-react';
import type { ImportState } from '../../queries/enums.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const ICONS = {
  queued: IconClock,
  running: IconPlayerPlay,
  succeeded: IconCheck,
  failed: IconX,
  cancelled: IconBan,
} as const;

interface ImportStateBadgeProps {
  state: ImportState;
  isUndone?: boolean;
  /** Instead of the word for the state. */
  text?: string;
}

/** The state of an import, by label and icon. */
export function ImportStateBadge({
  state,
  isUndone = false,
  text = isUndone ? importMessages.undone : importMessages.states[state],
}: ImportStateBadgeProps) {
  const Icon = isUndone ? IconArrowBackUp : ICONS[state];
  return (
    <span className={classes.state} data-state={isUndone ? 'undone' : state} title={text}>
      <Icon size={16} aria-hidden />
      <span>{text}</span>
    </span>
  );
}
