import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { DimmedText } from './dimmed-text.tsx';
import classes from './page.module.css';
import type { PagedList } from '../queries/paged-list.ts';
import { commonMessages } from './messages.ts';

interface PageLayoutProps {
  /** Heading and document title. */
  title: string;
  /** Main actions, beside the heading. */
  actions?: ReactNode;
  /** Filters, between the heading and the content. */
  toolbar?: ReactNode;
  /** Whether the content fills the window and scrolls, as a table does. */
  fillsHeight?: boolean;
  children: ReactNode;
}

/** Characters above which a heading is set in a smaller size. */
const LONG_TITLE = 90;

/** Layout of every page: heading, actions, toolbar, content. */
export function PageLayout({ title, actions, toolbar, fillsHeight = false, children }: PageLayoutProps) {
  useEffect(() => {
    document.title = `${title} - Assay`;
  }, [title]);
  return (
    <div className={classes.page} data-fills={fillsHeight || undefined}>
      <Group justify="space-between" className={classes.head}>
        <Title order={1} size={title.length > LONG_TITLE ? 'h5' : 'h3'} dir="auto">
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {toolbar}
      {children}
    </div>
  );
}

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
