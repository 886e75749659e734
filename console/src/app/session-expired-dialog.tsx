import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { DimmedText } from '../components/dimmed-text.tsx';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { isWaiting, subscribeToWaiting, retryWaiting } from '../session/sign-in-gate.ts';
import { redirectToSignIn } from '../session/access-token.ts';
import { appMessages } from './messages.ts';

const { sessionExpired } = appMessages;

/** Milliseconds without a new 401 after which the attempt counts as successful. */
const ATTEMPT_RESET = 5_000;

/** Lets the user sign in again without losing what they typed. */
export function SessionExpiredDialog() {
  const [hasRetried, setHasRetried] = useState(false);
  const opened = useSyncExternalStore(subscribeToWaiting, isWaiting);
  useEffect(() => {
    if (!opened) return undefined;
    // The user has probably signed in in another tab.
    addEventListener('focus', retryWaiting);
    return () => removeEventListener('focus', retryWaiting);
  }, [opened]);
  useEffect(() => {
    // The dialog closes for a moment during each attempt.
    const timer = opened ? undefined : setTimeout(() => setHasRetried(false), ATTEMPT_RESET);
    return () => clearTimeout(timer);
  }, [opened]);
  return (
    <Modal
      // Stays above any other dialog.
      zIndex={1_000}
      opened={opened}
      onClose={retryWaiting}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={sessionExpired.title}
      size="lg"
    >
      <Stack>
        <Text size="sm">{sessionExpired.hint}</Text>
        <DimmedText role="status">{hasRetried && sessionExpired.notSignedIn}</DimmedText>
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" onClick={() => void redirectToSignIn()}>
            {sessionExpired.signInHere}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              setHasRetried(true);
              retryWaiting();
            }}
          >
            Continue
          </Button>
          <Button component="a" href="/sign-in" target="_blank" rel="noopener" data-autofocus>
            {sessionExpired.openSignIn}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
