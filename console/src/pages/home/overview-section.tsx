import { type ReactNode, useId } from 'react';
import classes from './home-page.module.css';

interface OverviewSectionProps {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

/** A part of the right column. */
export function OverviewSection({ title, action, children }: OverviewSectionProps) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {action}
      </header>
      {children}
    </section>
  );
}
