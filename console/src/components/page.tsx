import { Group, Loader, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { EmptyState } from './empty-state.tsx';
import { errorText } from './notifications.tsx';
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

interface PageFallbackProps {
  title: string;
  /** Why the object could not be loaded; `null` while it is being loaded. */
  error: Error | null;
  errorTitle: string;
}

/** Shown in place of the page of an object that is not loaded. */
export function PageFallback({ title, error, errorTitle }: PageFallbackProps) {
  return (
    <PageLayout title={title}>
      {error === null ? <Loader size="sm" /> : <EmptyState title={errorTitle}>{errorText(error)}</EmptyState>}
    </PageLayout>
  );
}

/** Shows the total of a list, or a lower bound until it is known. */
export function ResultCount({
  list,
}: {
  list: Pick<PagedList<unknown>, 'isPending' | 'isCounted' | 'loadedCount' | 'total'>;
}) {
  const { found, moreThan } = commonMessages.list;
  return (
    <DimmedText aria-live="polite">
      {list.isPending ? 'Loading' : list.isCounted ? found(list.total) : moreThan(list.loadedCount)}
    </DimmedText>
  );
}
