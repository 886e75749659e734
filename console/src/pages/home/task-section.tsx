import { useId, type ReactNode } from 'react';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';

interface TaskSectionProps {
  title: string;
  total: number;
  /** Leads to the rest. */
  more?: ReactNode;
  children: ReactNode;
}

/** Things of one kind to act on. */
export function TaskSection({ title, total, more, children }: TaskSectionProps) {
  const id = useId();
  return (
    <section className={classes.tasks} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {total > 0 && <span className={classes.total}>{total.toLocaleString()}</span>}
        {more}
      </header>
      <ul>{children}</ul>
    </section>
  );
}

interface TaskRowProps {
  /** A mark or an icon. */
  lead: ReactNode;
  title: ReactNode;
  /** Below the title. */
  facts: ReactNode;
  /** Why it is shown. */
  reason: ReactNode;
  who?: ReactNode;
  /** A button. */
  step?: ReactNode;
}

export const TaskRow = ({ lead, title, facts, reason, who, step }: TaskRowProps) => (
  <li className={classes.row}>
    <span className={classes.lead}>{lead}</span>
    <span className={classes.text}>
      {title}
      <span className={classes.facts}>{facts}</span>
    </span>
    <span className={classes.reason}>{reason}</span>
    {who !== undefined && <span className={classes.who}>{who}</span>}
    {step}
  </li>
);

/** @returns a link with the number of rows that are not shown; undefined if all are */
export const linkToRest = (total: number, shown: number, link: (text: string) => ReactNode): ReactNode =>
  total > shown ? link(messages.showMore(total - shown)) : undefined;
