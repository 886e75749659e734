import { Button, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { commonMessages } from './messages.ts';

interface EmptyStateProps {
  title: string;
  /** The next step, in a sentence or two. */
  children?: ReactNode;
  /** A button or link that does it. */
  action?: ReactNode;
}

/** Shown in place of an empty list or a missing page. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children !== undefined && (
        <Text c="dimmed" maw={460}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}

interface NoResultsProps {
  title?: string;
  onClear: () => void;
  label?: string;
}

/** Shown when no rows match the filters. */
export function NoResults({
  title = commonMessages.list.noResults,
  onClear,
  label = commonMessages.list.clearFilters,
}: NoResultsProps) {
  return (
    <EmptyState
      title={title}
      action={
        <Button variant="default" onClick={onClear}>
          {label}
        </Button>
      }
    />
  );
}
