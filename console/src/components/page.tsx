import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from './page.module.css';

interface PageLayoutProps {
  /** Its heading, and what the browser shows of it. */
  title: string;
  /** Beside the heading: its main actions. */
  actions?: ReactNode;
  /** Between the heading and the content: filters. */
  toolbar?: ReactNode;
  /** Whether the content scrolls by itself and fills what is left of the window, as a table does. */
  fillsHeight?: boolean;
  children: ReactNode;
}

/** Characters of a heading that is set in smaller letters, as it goes over several lines. */
const LONG_TITLE = 90;

/** The frame of every place: one heading, its actions, its content. */
export function PageLayout({ title, actions, toolbar, fillsHeight = false, children }: PageLayoutProps) {
  useEffect(() => {
    document.title = `${title} - Assay`;
  }, [title]);
  return (
    <div className={classes.place} data-fills={fillsHeight || undefined}>
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
