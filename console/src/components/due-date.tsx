import { IconClockExclamation } from '@tabler/icons-react';
import type { Vulnerability } from '../queries/client.ts';
import { isClosed } from '../queries/vulnerabilities.ts';
import { commonMessages } from './messages.ts';
import { Day } from './time.tsx';
import classes from './marks.module.css';

const DAY_MS = 24 * 60 * 60 * 1_000;

type DueFields = Pick<Vulnerability, 'due_on' | 'vulnerability_status'>;

/** @returns days since an open vulnerability was due, in the browser's time zone; 0 if it is not overdue */
export function daysOverdue(vulnerability: DueFields): number {
  if (vulnerability.due_on === null || isClosed(vulnerability)) return 0;
  const now = new Date();
  // Compares both dates in UTC, so that daylight saving time does not matter.
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.max(0, (today - Date.parse(vulnerability.due_on)) / DAY_MS);
}

/** When an open vulnerability is due, or for how many days it has been overdue. */
export function DueDate({ vulnerability }: { vulnerability: DueFields }) {
  const { due_on: due } = vulnerability;
  if (due === null || isClosed(vulnerability)) return null;
  const days = daysOverdue(vulnerability);
  if (days === 0) return <Day on={due} />;
  return (
    <span className={classes.overdue}>
      <IconClockExclamation size={14} aria-hidden />
      <Day on={due}>{commonMessages.overdue(days)}</Day>
    </span>
  );
}
