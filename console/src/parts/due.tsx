import { IconClockExclamation } from '@tabler/icons-react';
import { counted } from './counted.ts';
import classes from './due.module.css';

/** Of `flow_type`: what is closed is late no more. */
const CLOSED = 2;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface LateProps {
  /** The day on which it is due. */
  due_on: string | null;
  vulnerability_status: { flow_type: number };
}

/** @returns whole days since an open one was due, in the zone of who reads it; 0 for what is not late */
export function daysLate({ due_on, vulnerability_status }: LateProps): number {
  if (due_on === null || vulnerability_status.flow_type === CLOSED) return 0;
  const now = new Date();
  // Both days as if of one zone: none of them is then an hour short.
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.max(0, (today - Date.parse(due_on)) / DAY_MS);
}

/** That something is late, by a shape and in words; nothing where it is not. */
export function Late({ of }: { of: LateProps }) {
  const days = daysLate(of);
  if (days === 0) return null;
  return (
    <span className={classes.late}>
      <IconClockExclamation size={14} aria-hidden />
      late by {counted(days, 'day')}
    </span>
  );
}
