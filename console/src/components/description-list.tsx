import type { ReactNode } from 'react';
import classes from './description-list.module.css';

/** Names and values in as many columns as fit. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

interface DescriptionItemProps {
  name: string;
  /** Whether it spans two columns. */
  wide?: boolean;
  children: ReactNode;
}

export function DescriptionItem({ name, wide = false, children }: DescriptionItemProps) {
  return (
    <div className={wide ? classes.wide : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
