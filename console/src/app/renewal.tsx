import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import { isWaiting, onWaiting, tryAgain } from '../session/renewals.ts';
import { signIn } from '../session/access.ts';

/** Where the session ended while something was typed: how to sign in again and keep it. */
export function Renewal() {
  const opened = useSyncExternalStore(onWaiting, isWaiting);
  useEffect(() => {
    if (!opened) return undefined;
    // Whoever comes back from another tab has probably signed in there.
    addEventListener('focus', tryAgain);
    return () => removeEventListener('focus', tryAgain);
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
    >
      <Stack>
        <Text size="sm">
          Your session has ended. What you typed is still here: sign in in a new tab and come back, and this
          page goes on. If you sign in here instead, you come back to this address, and what was not saved is
          lost.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" onClick={() => void signIn()}>
            Sign in here
          </Button>
          <Button variant="default" onClick={tryAgain}>
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
