import { IconClockExclamation } from '@tabler/icons-react';
import type { Vulnerability } from '../queries/client.ts';
import classes from './due-date.module.css';
import { isClosed } from '../queries/vulnerabilities.ts';
import { commonMessages } from './messages.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

type DueFields = Pick<Vulnerability, 'due_on' | 'vulnerability_status'>;

/** @returns days since an open vulnerability was due, in the browser's time zone; 0 if it is not overdue */
export function daysOverdue(dueFields: DueFields): number {
  if (dueFields.due_on === null || isClosed(dueFields)) return 0;
  const now = new Date();
  // Both dates as UTC, so that daylight saving time does not matter.
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.max(0, (today - Date.parse(dueFields.due_on)) / DAY_MS);
}

/** Marks an overdue vulnerability; renders nothing otherwise. */
export function OverdueBadge({ dueFields }: { dueFields: DueFields }) {
  const days = daysOverdue(dueFields);
  if (days === 0) return null;
  return (
    <span className={classes.late}>
      <IconClockExclamation size={14} aria-hidden />
      {commonMessages.overdue(days)}
    </span>
  );
}
