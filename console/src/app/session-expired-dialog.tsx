import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { isWaiting, onWaiting, tryAgain } from '../session/sign-in-gate.ts';
import { signIn } from '../session/access-token.ts';

/** Milliseconds after which a try counts as one that went well. */
const FORGOTTEN = 5_000;

/** Where the session ended while something was typed: how to sign in again and keep it. */
export function Renewal() {
  const [tried, setTried] = useState(false);
  const opened = useSyncExternalStore(onWaiting, isWaiting);
  useEffect(() => {
    if (!opened) return undefined;
    // Whoever comes back from another tab has probably signed in there.
    addEventListener('focus', tryAgain);
    return () => removeEventListener('focus', tryAgain);
  }, [opened]);
  useEffect(() => {
    // While it is looked for, it is closed for a moment.
    const timer = opened ? undefined : setTimeout(() => setTried(false), FORGOTTEN);
    return () => clearTimeout(timer);
  }, [opened]);
  return (
    <Modal
      // Over the dialog in which something was typed.
      zIndex={1_000}
      opened={opened}
      onClose={tryAgain}
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
          <Button variant="subtle" onClick={() => void signIn()}>
            Sign in here
          </Button>
          <Button
            variant="default"
            onClick={() => {
              setTried(true);
              tryAgain();
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
