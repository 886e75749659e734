import { IconBan, IconCheck, IconClock, IconPlayerPlay, IconX } from '@tabler/icons-react';
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

/** The state of an import, by label and icon. */
export function ImportStateBadge({ state }: { state: ImportState }) {
  const Icon = ICONS[state];
  return (
    <span className={classes.state} data-state={state}>
      <Icon size={15} aria-hidden />
      {importMessages.states[state]}
    </span>
  );
}
