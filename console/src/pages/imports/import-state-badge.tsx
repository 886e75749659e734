import { IconBan, IconCheck, IconClock, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { IMPORT_STATE_LABELS, type ImportState as State } from '../../queries/imports.ts';
import classes from './imports.module.css';

const ICONS = {
  queued: IconClock,
  running: IconPlayerPlay,
  succeeded: IconCheck,
  failed: IconX,
  cancelled: IconBan,
} as const;

/** The state of an import, by label and icon. */
export function ImportStateBadge({ state }: { state: State }) {
  const Icon = ICONS[state];
  return (
    <span className={classes.state} data-state={state}>
      <Icon size={15} aria-hidden />
      {IMPORT_STATE_LABELS[state]}
    </span>
  );
}
