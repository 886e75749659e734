import type { ComponentPropsWithoutRef } from 'react';
import classes from './labelled-mark.module.css';

interface LabelledMarkProps extends ComponentPropsWithoutRef<'span'> {
  label: string;
  /** Whether the label stands beside the mark; otherwise it is a tooltip and for screen readers. */
  withLabel: boolean;
}

/** A mark, with its label or alone. */
export function LabelledMark({ label, withLabel, ...markProps }: LabelledMarkProps) {
  if (!withLabel) return <span role="img" aria-label={label} title={label} {...markProps} />;
  return (
    <span className={classes.labelled} title={label}>
      <span aria-hidden {...markProps} />
      <bdi>{label}</bdi>
    </span>
  );
}
