import { Button, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  title: string;
  /** What to do first, in a sentence or two. */
  children?: ReactNode;
  /** The button or link that does it. */
  action?: ReactNode;
}

/** Stands where nothing is, and says what to do. */
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
  onClear: () => void;
  /** What clearing brings back. */
  label?: string;
}

/** Stands where filters let nothing through. */
export function NoResults({ onClear, label = 'Remove all filters' }: NoResultsProps) {
  return (
    <EmptyState
      title="None matches"
      action={
        <Button variant="light" onClick={onClear}>
          {label}
        </Button>
      }
    />
  );
}
