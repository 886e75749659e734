import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useCurrentNavItem } from '../app/nav-items.ts';
import { Breadcrumb } from './breadcrumb.tsx';
import { DimmedText } from './dimmed-text.tsx';
import classes from './page.module.css';
import { PrintFooter } from './print-footer.tsx';
import type { PagedList } from '../queries/paged-list.ts';
import { commonMessages } from './messages.ts';

interface PageLayoutProps {
  /** Heading and document title. */
  title: string;
  /** Beside the heading. */
  tabs?: ReactNode;
  /** Main actions, at the end of the header. */
  actions?: ReactNode;
  /** Filters, between the heading and the content. */
  toolbar?: ReactNode;
  /** Whether the content fills the window and scrolls, as a table does. */
  fillsHeight?: boolean;
  /** Whether the content reaches the edges of the page. */
  isFullWidth?: boolean;
  children: ReactNode;
}

/** Characters above which a heading is set in a smaller size. */
const LONG_TITLE = 90;

/** Layout of every page: header with heading and actions, toolbar, content. */
export function PageLayout({
  title,
  tabs,
  actions,
  toolbar,
  fillsHeight = false,
  isFullWidth = fillsHeight,
  children,
}: PageLayoutProps) {
  const { item, isTopLevel } = useCurrentNavItem();
  useEffect(() => {
    document.title = `${title} - Assay`;
  }, [title]);
  return (
    <div className={classes.page} data-fills={fillsHeight || undefined} data-full={isFullWidth || undefined}>
      <div className={classes.head}>
        {item !== undefined && !isTopLevel && (
          <Breadcrumb>
            <Link to={item.to}>{item.label}</Link>
          </Breadcrumb>
        )}
        <h1 dir="auto" data-long={title.length > LONG_TITLE || undefined} data-nav={isTopLevel || undefined}>
          {title}
        </h1>
        {tabs}
        <div className={classes.actions}>{actions}</div>
      </div>
      {toolbar !== undefined && <div className={classes.toolbar}>{toolbar}</div>}
      <div className={classes.content}>{children}</div>
      <PrintFooter />
    </div>
  );
}

/** A row of controls above a list, below the toolbar of the page. */
export const PageBar = ({ children }: { children: ReactNode }) => (
  <div className={classes.bar}>{children}</div>
);

/** Shows the total of a list, or a lower bound until it is known. */
export function ResultCount({
  list,
}: {
  list: Pick<PagedList<unknown>, 'isPending' | 'isCounted' | 'loadedCount' | 'total' | 'error'>;
}) {
  const { found, moreThan } = commonMessages.list;
  if (list.error !== null && list.loadedCount === 0) return null;
  return (
    <DimmedText aria-live="polite">
      {list.isPending ? 'Loading' : list.isCounted ? found(list.total) : moreThan(list.loadedCount)}
    </DimmedText>
  );
}
