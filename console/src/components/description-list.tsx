import type { ReactNode } from 'react';
import classes from './description-list.module.css';

/** Facts side by side, as many in a row as there is room for. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

interface FactProps {
  name: string;
  /** Whether it has the room of two: tags, a checksum. */
  wide?: boolean;
  children: ReactNode;
}

/** One of `Facts`. */
export function Fact({ name, wide = false, children }: FactProps) {
  return (
    <div className={wide ? classes.wide : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
