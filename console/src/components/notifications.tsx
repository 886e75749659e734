import { Button, Group, Text } from '@mantine/core';
import { hideNotification, showNotification } from '@mantine/notifications';
import { AssayError } from '../queries/client.ts';

interface ToldOptions {
  /** Takes it back; offered beside the words for twenty seconds. */
  undo?: () => void;
  /** What it is about: a notice takes away the one before about the same, whose undo no longer fits. */
  about?: string;
}

/** The last notice about each thing, by its id. */
const last = new Map<string, string>();
/** Those that are shown, the oldest first. */
const shown: string[] = [];
/** More would cover what people work on; the newest is the one that they take back. */
const SHOWN_AT_MOST = 3;

/** Says what happened. */
export function tell(message: string, { undo, about }: ToldOptions = {}): void {
  const id = `notice-${Math.random()}`;
  if (about !== undefined) {
    hideNotification(last.get(about) ?? '');
    last.set(about, id);
  }
  shown.push(id);
  while (shown.length > SHOWN_AT_MOST) hideNotification(shown.shift() ?? '');
  showNotification({
    id,
    autoClose: undo === undefined ? 4_000 : 20_000,
    onClose: () => void shown.splice(0, shown.length, ...shown.filter((other) => other !== id)),
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
export function tellError(what: string, error: unknown): void {
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
    const faults = error.faults.map(({ property, message }) => `${property} ${message}`);
    return faults.length > 0 ? faults.join('; ') : error.message;
  }
  if (error instanceof TypeError) return 'The server cannot be reached. Try again in a moment.';
  return error instanceof Error ? error.message : String(error);
}
