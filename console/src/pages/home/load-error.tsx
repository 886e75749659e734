import { Button, Group, Text } from '@mantine/core';
import { commonMessages } from '../../components/messages.ts';
import { errorText } from '../../components/notifications.ts';

/** Shown in place of what could not be loaded. */
export const LoadError = ({ error, onRetry }: { error: Error; onRetry: () => unknown }) => (
  <Group gap="xs">
    <Text size="sm">{errorText(error)}</Text>
    <Button size="xs" variant="default" onClick={() => void onRetry()}>
      {commonMessages.tryAgain}
    </Button>
  </Group>
);
