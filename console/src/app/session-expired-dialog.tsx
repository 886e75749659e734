import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { isWaiting, subscribeToWaiting, retryWaiting } from '../session/sign-in-gate.ts';
import { redirectToSignIn } from '../session/access-token.ts';

/** Milliseconds after which a try counts as one that went well. */
const ATTEMPT_RESET = 5_000;

/** Where the session ended while something was typed: how to sign in again and keep it. */
export function SessionExpiredDialog() {
  const [tried, setTried] = useState(false);
  const opened = useSyncExternalStore(subscribeToWaiting, isWaiting);
  useEffect(() => {
    if (!opened) return undefined;
    // Whoever comes back from another tab has probably signed in there.
    addEventListener('focus', retryWaiting);
    return () => removeEventListener('focus', retryWaiting);
  }, [opened]);
  useEffect(() => {
    // While it is looked for, it is closed for a moment.
    const timer = opened ? undefined : setTimeout(() => setTried(false), ATTEMPT_RESET);
    return () => clearTimeout(timer);
  }, [opened]);
  return (
    <Modal
      // Over the dialog in which something was typed.
      zIndex={1_000}
      opened={opened}
      onClose={retryWaiting}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="You are signed out"
      size="lg"
    >
      <Stack>
        <Text size="sm">
          Your session has ended. What you typed is still here: sign in in a new tab and come back, and this
          page goes on. If you sign in here instead, you come back to this address without it; of a
          vulnerability that you write, this browser keeps a draft.
        </Text>
        <Text size="sm" c="dimmed" role="status">
          {tried && 'Nobody is signed in in this browser yet.'}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" onClick={() => void redirectToSignIn()}>
            Sign in here
          </Button>
          <Button
            variant="default"
            onClick={() => {
              setTried(true);
              retryWaiting();
            }}
          >
            Go on
          </Button>
          <Button component="a" href="/sign-in" target="_blank" rel="noopener" data-autofocus>
            Sign in in a new tab
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
