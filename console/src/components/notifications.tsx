import { Button, Group, Text } from '@mantine/core';
import { hideNotification, showNotification } from '@mantine/notifications';
import { AssayError } from '../queries/client.ts';
import { commonMessages } from './messages.ts';

interface NotifyOptions {
  /** Adds an Undo button, shown for twenty seconds. */
  undo?: () => void;
  /** Replaces the previous notification with this topic, whose undo no longer applies. */
  topic?: string;
}

/** Id of the last notification by topic. */
const lastByTopic = new Map<string, string>();
/** Ids of the visible notifications, oldest first. */
const visibleIds: string[] = [];
/** More would cover the page. */
const MAX_VISIBLE = 3;

/** Shows a notification. */
export function notify(message: string, { undo, topic }: NotifyOptions = {}): void {
  const id = `notice-${Math.random()}`;
  let focusedBefore: EventTarget | null = null;
  if (topic !== undefined) {
    hideNotification(lastByTopic.get(topic) ?? '');
    lastByTopic.set(topic, id);
  }
  visibleIds.push(id);
  while (visibleIds.length > MAX_VISIBLE) hideNotification(visibleIds.shift() ?? '');
  showNotification({
    id,
    autoClose: undo === undefined ? 4_000 : 20_000,
    onClose: () =>
      void visibleIds.splice(0, visibleIds.length, ...visibleIds.filter((other) => other !== id)),
    withBorder: true,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        {undo !== undefined && (
          <Button
            size="compact-sm"
            variant="light"
            flex="none"
            onFocus={({ relatedTarget }) => (focusedBefore = relatedTarget)}
            onClick={() => {
              hideNotification(id);
              if (focusedBefore instanceof HTMLElement) focusedBefore.focus({ preventScroll: true });
              undo();
            }}
          >
            Undo
          </Button>
        )}
      </Group>
    ),
  });
}

/** Shows an error. Validation errors belong to their fields instead. */
export function notifyError(title: string, error: unknown): void {
  showNotification({
    color: 'red',
    withBorder: true,
    autoClose: 12_000,
    title,
    // Mantine's grey below a title has too little contrast.
    message: (
      <Text size="sm" c="var(--mantine-color-text)" style={{ overflowWrap: 'anywhere' }}>
        {errorText(error)}
      </Text>
    ),
  });
}

/** @returns the message of an error for the user; undefined for `null` */
export function errorText(error: Error): string;
export function errorText(error: Error | null): string | undefined;
export function errorText(error: unknown): string;
export function errorText(error: unknown): string | undefined {
  return error === null ? undefined : messageOf(error);
}

function messageOf(error: unknown): string {
  if (error instanceof AssayError) {
    const messages = error.fieldErrors.map(({ property, message }) => `${property} ${message}`);
    return messages.length > 0 ? messages.join('; ') : error.message;
  }
  if (error instanceof TypeError) return commonMessages.serverUnreachable;
  return error instanceof Error ? error.message : String(error);
}
