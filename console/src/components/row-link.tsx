import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import classes from './data-table.module.css';

interface RowLinkProps {
  /** Path in the console. */
  to: string;
  title?: string;
  children: ReactNode;
}

/** A link in a row. It skips the router's Link, which is too slow for the hundreds drawn while scrolling. */
export function RowLink({ to, title, children }: RowLinkProps) {
  const router = useRouter();
  const go = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to });
  };
  return (
    <a href={to} title={title} dir="auto" className={classes.link} onClick={go}>
      {children}
    </a>
  );
}
