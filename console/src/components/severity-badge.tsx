import type { Severity } from '../queries/enums.ts';
import classes from './severity-badge.module.css';

/** Severities differ by shape as well as by colour. */
const SHAPES: Readonly<Record<Severity, string>> = {
  Critical: 'M8 0.6 15.4 8 8 15.4 0.6 8Z M7.1 3.8h1.8v5H7.1Z M7.1 10.2h1.8V12H7.1Z',
  High: 'M8 1.2 15.2 14.4H0.8Z',
  Medium: 'M2 2h12v12H2Z',
  Low: 'M8 1.6a6.4 6.4 0 1 1 0 12.8A6.4 6.4 0 1 1 8 1.6Z',
  Informational:
    'M8 1.6a6.4 6.4 0 1 1 0 12.8A6.4 6.4 0 1 1 8 1.6Z M8 3.6a4.4 4.4 0 1 0 0 8.8A4.4 4.4 0 1 0 8 3.6Z',
};

interface SeverityBadgeProps {
  severity: Severity;
  /** Whether to show the label; otherwise it is a tooltip and for screen readers. */
  withLabel?: boolean;
}

export function SeverityBadge({ severity, withLabel = true }: SeverityBadgeProps) {
  return (
    <span className={classes.severity} data-severity={severity} title={withLabel ? undefined : severity}>
      <svg
        viewBox="0 0 16 16"
        role={withLabel ? undefined : 'img'}
        aria-hidden={withLabel}
        aria-label={withLabel ? undefined : severity}
      >
        <path fillRule="evenodd" d={SHAPES[severity]} />
      </svg>
      {withLabel && <span>{severity}</span>}
    </span>
  );
}
