import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import classes from './section.module.css';

interface PageSectionProps {
  title: string;
  /** At the end of the heading's line. */
  action?: ReactNode;
  children: ReactNode;
}

/** A part of a page or of its right column, below a heading. */
export function PageSection({ title, action, children }: PageSectionProps) {
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

interface ColumnsProps {
  /** The right column; below the left one in windows of up to 1180 px. */
  aside: ReactNode;
  /** The accessible name of the right column. */
  label: string;
  /** The width in pixels; `wide` is 400, or 500 in windows from 1600 px. */
  width?: 'wide' | '340' | '320';
  children: ReactNode;
}

/** A page that fills the window, with a right column. */
export const Columns = ({ aside, label, width = '320', children }: ColumnsProps) => (
  <div className={classes.columns} data-width={width}>
    <div>{children}</div>
    <aside aria-label={label}>{aside}</aside>
  </div>
);

/** A warning in the text of a page. */
export const Warning = ({ children, isAlert = false }: { children: ReactNode; isAlert?: boolean }) => (
  <div className={classes.warning} role={isAlert ? 'alert' : undefined}>
    <IconAlertTriangle size={16} aria-hidden />
    <div>{children}</div>
  </div>
);
