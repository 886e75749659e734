import { IconClockExclamation } from '@tabler/icons-react';
import type { Vulnerability } from '../queries/client.ts';
import { isClosed } from '../queries/vulnerabilities.ts';
import { commonMessages } from './messages.ts';
import { Day } from './time.tsx';
import classes from './marks.module.css';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Up to this many days ahead, a due date is soon. */
const SOON_DAYS = 30;

type DueFields = Pick<Vulnerability, 'due_on' | 'vulnerability_status'>;

const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** @returns the calendar days since a date, in the browser's time zone; negative before it */
function daysSince(date: string): number {
  const now = new Date();
  // Compares both dates in UTC, so that daylight saving time does not matter.
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return (today - Date.parse(date)) / DAY_MS;
}

/** @returns days since an open vulnerability was due, in the browser's time zone; 0 if it is not overdue */
export function daysOverdue(vulnerability: DueFields): number {
  if (vulnerability.due_on === null || isClosed(vulnerability)) return 0;
  return Math.max(0, daysSince(vulnerability.due_on));
}

interface DueDateProps {
  vulnerability: DueFields;
  /** Whether to say in how many days it is due, if it is soon. */
  withDistance?: boolean;
}

/** When an open vulnerability is due, or for how many days it has been overdue. */
export function DueDate({ vulnerability, withDistance = false }: DueDateProps) {
  const { due_on: due } = vulnerability;
  if (due === null || isClosed(vulnerability)) return null;
  const days = daysOverdue(vulnerability);
  if (days === 0)
    return (
      <span>
        <Day on={due} />
        {withDistance && daysSince(due) > -SOON_DAYS && `, ${distance.format(-daysSince(due), 'day')}`}
      </span>
    );
  return (
    <span className={classes.overdue}>
      <IconClockExclamation size={14} aria-hidden />
      <Day on={due}>{commonMessages.overdue(days)}</Day>
    </span>
  );
}
