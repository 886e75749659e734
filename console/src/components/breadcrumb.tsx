import { IconChevronRight } from '@tabler/icons-react';
import { Children, Fragment, type ReactNode } from 'react';
import { commonMessages } from './messages.ts';
import classes from './breadcrumb.module.css';

interface BreadcrumbProps {
  /** Links to the pages above, from the top. */
  children: ReactNode;
  /** The name of the page; absent where its heading follows. */
  current?: string;
}

/** Links to the pages above the current one. On phones, the bar of the frame has a link in its place. */
export const Breadcrumb = ({ children, current }: BreadcrumbProps) => (
  <nav aria-label={commonMessages.breadcrumb} className={classes.breadcrumb}>
    {Children.toArray(children).map((link, index) => (
      // eslint-disable-next-line react/no-array-index-key
      <Fragment key={index}>
        {link}
        <IconChevronRight size={14} aria-hidden />
      </Fragment>
    ))}
    {current !== undefined && <span aria-current="page">{current}</span>}
  </nav>
);
