import type { ReactNode } from 'react';
import classes from './description-list.module.css';

/** Facts side by side, as many in a row as there is room for. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

interface DescriptionItemProps {
  name: string;
  /** Whether it has the room of two: tags, a checksum. */
  wide?: boolean;
  children: ReactNode;
}

/** One of `Facts`. */
export function DescriptionItem({ name, wide = false, children }: DescriptionItemProps) {
  return (
    <div className={wide ? classes.wide : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
