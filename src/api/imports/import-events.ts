import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ImportView } from '../../domain/imports/import-list.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { toImportBody } from './import-schema.ts';

/** Interval at which the import is read, and idle time after which a comment is sent, in ms. */
const POLL_MILLISECONDS = 500;
const HEARTBEAT_MILLISECONDS = 15_000;

/** Id of the last event. A client that has it has received all events. */
export const END_EVENT_ID = 'end';

interface ImportEventsOptions {
  /** @throws DomainError `not-found` once the caller can no longer see the import */
  read(): Promise<ImportView>;
  /** `Last-Event-ID` of a client that reconnects. */
  lastEventId: string | undefined;
  /** @returns whether the server is shutting down */
  isClosing(): boolean;
  /** Overrides the interval, in ms. */
  pollInterval?: number;
  heartbeatInterval?: number;
}

/**
 * Streams the events of an import as WHATWG server-sent events (operation 68): `progress` on every change, and `end`.
 * Their data is the import; the id of `progress` is a digest of it.
 */
export async function* streamImportEvents({
  read,
  lastEventId,
  isClosing,
  pollInterval = POLL_MILLISECONDS,
  heartbeatInterval = HEARTBEAT_MILLISECONDS,
}: ImportEventsOptions): AsyncGenerator<string, void> {
  let lastId = lastEventId;
  let lastSentAt = performance.now();
  for (;;) {
    const view = await read().catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === 'not-found') return undefined;
      throw error;
    });
    if (view === undefined) return;
    const data = JSON.stringify(toImportBody(view));
    if (view.finishedAt !== null) {
      yield formatEvent('end', END_EVENT_ID, data);
      return;
    }
    const id = createHash('sha256').update(data).digest('base64url').slice(0, 12);
    if (id !== lastId) {
      lastId = id;
      lastSentAt = performance.now();
      yield formatEvent('progress', id, data);
    } else if (performance.now() - lastSentAt >= heartbeatInterval) {
      lastSentAt = performance.now();
      yield ': still running\n\n';
    }
    if (isClosing()) return;
    await delay(pollInterval, undefined, { ref: false });
  }
}

function formatEvent(name: string, id: string, data: string): string {
  return `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
}
