import { IconClockExclamation } from '@tabler/icons-react';
import type { Vulnerability } from '../queries/client.ts';
import { isClosed } from './is-closed.ts';
import { pluralize } from './pluralize.ts';
import classes from './due-date.module.css';

const DAY_MS = 24 * 60 * 60 * 1_000;

type DueFields = Pick<Vulnerability, 'due_on' | 'vulnerability_status'>;

/** @returns whole days since an open one was due, in the zone of who reads it; 0 for what is not late */
export function daysOverdue(of: DueFields): number {
  if (of.due_on === null || isClosed(of)) return 0;
  const now = new Date();
  // Both days as if of one zone: none of them is then an hour short.
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.max(0, (today - Date.parse(of.due_on)) / DAY_MS);
}

/** That something is late, by a shape and in words; nothing where it is not. */
export function OverdueBadge({ of }: { of: DueFields }) {
  const days = daysOverdue(of);
  if (days === 0) return null;
  return (
    <span className={classes.late}>
      <IconClockExclamation size={14} aria-hidden />
      late by {pluralize(days, 'day')}
    </span>
  );
}
