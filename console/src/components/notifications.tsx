import { Button, Group, Text } from '@mantine/core';
import { hideNotification, showNotification } from '@mantine/notifications';
import { AssayError } from '../queries/client.ts';

interface NotifyOptions {
  /** Takes it back; offered beside the words for twenty seconds. */
  undo?: () => void;
  /** What it is about: a notice takes away the one before about the same, whose undo no longer fits. */
  topic?: string;
}

/** The last notice about each thing, by its id. */
const lastByTopic = new Map<string, string>();
/** Those that are shown, the oldest first. */
const visible: string[] = [];
/** More would cover what people work on; the newest is the one that they take back. */
const MAX_VISIBLE = 3;

/** Says what happened. */
export function notify(message: string, { undo, topic }: NotifyOptions = {}): void {
  const id = `notice-${Math.random()}`;
  if (topic !== undefined) {
    hideNotification(lastByTopic.get(topic) ?? '');
    lastByTopic.set(topic, id);
  }
  visible.push(id);
  while (visible.length > MAX_VISIBLE) hideNotification(visible.shift() ?? '');
  showNotification({
    id,
    autoClose: undo === undefined ? 4_000 : 20_000,
    onClose: () => void visible.splice(0, visible.length, ...visible.filter((other) => other !== id)),
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
            onClick={() => {
              hideNotification(id);
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

/** Says what failed, in the server's words. What the server finds wrong with a field stands at the field instead. */
export function notifyError(what: string, error: unknown): void {
  showNotification({
    color: 'red',
    withBorder: true,
    autoClose: 12_000,
    title: what,
    message: errorText(error),
  });
}

/** @returns what an error says to people */
export function errorText(error: unknown): string {
  if (error instanceof AssayError) {
    const faults = error.fieldErrors.map(({ property, message }) => `${property} ${message}`);
    return faults.length > 0 ? faults.join('; ') : error.message;
  }
  if (error instanceof TypeError) return 'The server cannot be reached. Try again in a moment.';
  return error instanceof Error ? error.message : String(error);
}
