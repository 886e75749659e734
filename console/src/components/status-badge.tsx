import classes from './status-badge.module.css';

/** By what the status means for the work: new, open, closed. */
const PHASES = ['new', 'open', 'closed'] as const;

/** The status of a vulnerability; its phase is told by the mark's shape as well as by its colour. */
export function StatusBadge({ name, flow }: { name: string; flow: number }) {
  return (
    <span className={classes.status} data-phase={PHASES[flow]}>
      <span className={classes.mark} aria-hidden />
      {name}
    </span>
  );
}
