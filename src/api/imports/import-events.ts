import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ImportView } from '../../domain/imports/import-list.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { toImportBody } from './import-schema.ts';

/** How often the import is looked at, and after how long without an event a comment is sent, in ms. */
const POLL_MILLISECONDS = 500;
const HEARTBEAT_MILLISECONDS = 15_000;

/** The id of the last event: who has it, has all. */
export const END_EVENT_ID = 'end';

interface ImportEventsOptions {
  /** @throws Failure `missing` once it is out of reach */
  read(): Promise<ImportView>;
  /** What the reader has had, if it has come again. */
  lastEventId: string | undefined;
  /** @returns whether the server closes */
  isClosing(): boolean;
  /** Other times, in ms. */
  pollInterval?: number;
  heartbeatInterval?: number;
}

/**
 * The events of an import, as a stream of WHATWG server-sent events (operation 68): `progress` when something changed, and
 * `end`, with the whole import as their data. The id of a `progress` is a digest of what it tells.
 */
export async function* streamImportEvents({
  read,
  lastEventId,
  isClosing,
  pollInterval = POLL_MILLISECONDS,
  heartbeatInterval = HEARTBEAT_MILLISECONDS,
}: ImportEventsOptions): AsyncGenerator<string, void> {
  let told = lastEventId;
  let spoken = performance.now();
  for (;;) {
    const view = await read().catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === 'missing') return undefined;
      throw error;
    });
    if (view === undefined) return;
    const data = JSON.stringify(toImportBody(view));
    if (view.finishedAt !== null) {
      yield formatEvent('end', END_EVENT_ID, data);
      return;
    }
    const id = createHash('sha256').update(data).digest('base64url').slice(0, 12);
    if (id !== told) {
      told = id;
      spoken = performance.now();
      yield formatEvent('progress', id, data);
    } else if (performance.now() - spoken >= heartbeatInterval) {
      spoken = performance.now();
      yield ': it goes on\n\n';
    }
    if (isClosing()) return;
    await delay(pollInterval, undefined, { ref: false });
  }
}

function formatEvent(name: string, id: string, data: string): string {
  return `event: ${name}\nid: ${id}\ndata: ${data}\n\n`;
}
