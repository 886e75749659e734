import { AssayError } from '../queries/client.ts';
import { commonMessages } from './messages.ts';

/** A message about something that has happened. */
export interface Notification {
  id: number;
  title?: string;
  message: string;
  isError?: boolean;
  /** Takes back what happened. */
  undo?: () => void;
  /** Replaces the previous notification with this topic, whose undo no longer applies. */
  topic?: string;
}

/** More would cover the page. */
const MAX_SHOWN = 3;

let shown: readonly Notification[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Notification[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

function add(notification: Omit<Notification, 'id'>): void {
  lastId += 1;
  const others = shown.filter(({ topic }) => topic === undefined || topic !== notification.topic);
  show([...others, { ...notification, id: lastId }].slice(-MAX_SHOWN));
}

/** The notifications on screen, oldest first. */
export const notifications = {
  get: () => shown,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  close: (id: number) => show(shown.filter((one) => one.id !== id)),
};

/** Shows a notification, with a button if it can be undone. */
export const notify = (message: string, options: Pick<Notification, 'undo' | 'topic'> = {}): void =>
  add({ message, ...options });

/** Shows an error until it is closed. Validation errors belong to their fields instead. */
export const notifyError = (title: string, error: unknown): void =>
  add({ title, message: errorText(error), isError: true });

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
