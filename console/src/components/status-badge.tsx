import classes from './status-badge.module.css';

/** By `flow_type`. */
const PHASES = ['new', 'open', 'closed'] as const;

/** The status of a vulnerability; its phase has its own shape and colour. */
export function StatusBadge({ name, flow }: { name: string; flow: number }) {
  return (
    <span className={classes.status} data-phase={PHASES[flow]}>
      <span className={classes.mark} aria-hidden />
      {name}
    </span>
  );
}
