import type { ReactNode } from 'react';
import classes from './description-list.module.css';

/** Names, each with its value beside it. */
export const DescriptionList = ({ children }: { children: ReactNode }) => (
  <dl className={classes.facts}>{children}</dl>
);

interface DescriptionItemProps {
  name: string;
  children: ReactNode;
}

export const DescriptionItem = ({ name, children }: DescriptionItemProps) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
