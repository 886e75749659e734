import { openAsBlob } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import type { ImportError } from '../../domain/imports/import-types.ts';
import type { ImportUndone, ImportView } from '../../domain/imports/import-list.ts';
import type { ReportFile } from './report-files.ts';
import type { AnyClient } from '../command-target.ts';
import { errorCodeOf, CliError } from '../errors.ts';
import { programName } from '../streams.ts';

/** The fields of an import (operation 67) that the command line uses. */
export interface RemoteImport extends Pick<
  ImportView,
  'id' | 'state' | 'format' | 'skips' | 'result' | 'preview' | 'error'
> {
  file: { filename: string; size: number };
  progress: Record<'bytes_read' | 'bytes_total' | 'hosts' | 'ports' | 'findings' | 'skipped', number> & {
    seconds_left: number | null;
  };
  undone: Omit<ImportUndone, 'at'> | null;
}

/** Form fields of an upload, as names and values; names may repeat. */
export type ImportFields = readonly (readonly [name: string, value: string])[];

export const IMPORT_ENDPOINT = '/v1/imports/{id}';
const END_STATES: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);
/** Polling intervals, in milliseconds; they start short for small reports. */
const MIN_POLL_INTERVAL = 20;
const MAX_POLL_INTERVAL = 500;
/** Milliseconds; enough to restart a server. */
const RECONNECT_TIMEOUT = 120_000;

/** Handles Ctrl-C: the first cancels the import, the second stops waiting for its end, a third ends the process. */
export class InterruptSignal {
  readonly #cancel = new AbortController();
  readonly #stopWaiting = new AbortController();
  readonly #interrupt = (): void => {
    if (this.#cancel.signal.aborted) {
      this.#stopWaiting.abort();
      this.close();
    }
    this.#cancel.abort();
  };

  constructor() {
    process.on('SIGINT', this.#interrupt);
  }

  get cancel(): AbortSignal {
    return this.#cancel.signal;
  }

  get stopWaiting(): AbortSignal {
    return this.#stopWaiting.signal;
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
  }
}

export async function postImport(
  client: AnyClient,
  { path, name }: Pick<ReportFile, 'path' | 'name'>,
  fields: ImportFields,
  signal: AbortSignal,
): Promise<RemoteImport> {
  const form = new FormData();
  for (const [field, value] of fields) form.append(field, value);
  // Must be the last part: the API rejects fields after the file.
  form.append('file', await openAsBlob(path), name);
  const { data } = await client.POST('/v1/imports', { body: form, signal });
  return data as RemoteImport;
}

export interface FollowOptions {
  interruption: Pick<InterruptSignal, 'cancel' | 'stopWaiting'>;
  /** How long to wait for an unreachable server, in milliseconds. Default: two minutes. */
  reconnectTimeout?: number;
  /** Called with each state of the import. */
  show(job: RemoteImport): void;
}

/**
 * Polls an import until it ends. Cancels it on the first interruption, and stops waiting on the second.
 * @throws CliError if it stops waiting
 */
export async function awaitImportEnd(
  client: AnyClient,
  id: number,
  { interruption: { cancel, stopWaiting }, reconnectTimeout = RECONNECT_TIMEOUT, show }: FollowOptions,
): Promise<RemoteImport> {
  const init = { params: { path: { id: String(id) } }, signal: stopWaiting };
  let isCancelled = false;
  let pause = MIN_POLL_INTERVAL;
  try {
    for (;;) {
      const job = await withRetry(
        async () => (await client.GET(IMPORT_ENDPOINT, init)).data as RemoteImport,
        reconnectTimeout,
        stopWaiting,
      );
      show(job);
      if (END_STATES.has(job.state)) return job;
      if (cancel.aborted && !isCancelled) {
        await withRetry(() => cancelImport(client, init), reconnectTimeout, stopWaiting);
        isCancelled = true;
      }
      await delay(pause, undefined, { signal: isCancelled ? stopWaiting : cancel }).catch(() => undefined);
      stopWaiting.throwIfAborted();
      pause = Math.min(pause * 1.5, MAX_POLL_INTERVAL);
    }
  } catch (error) {
    if (!stopWaiting.aborted) throw error;
    throw new CliError(
      `Stopped waiting for import ${id}, which ${isCancelled ? 'is being cancelled' : 'continues'}. Run "${programName()} import follow ${id}" to see how it ends.`,
    );
  }
}

async function cancelImport(
  client: AnyClient,
  init: { params: { path: { id: string } }; signal: AbortSignal },
): Promise<void> {
  try {
    await client.POST(`${IMPORT_ENDPOINT}/cancel`, init);
  } catch (error) {
    // The import has ended.
    if (!(error instanceof AssayError && error.status === 409)) throw error;
  }
}

/** Retries a request while the server is unreachable. @param timeout in milliseconds */
async function withRetry<T>(request: () => Promise<T>, timeout: number, signal: AbortSignal): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isUnreachable(error) || Date.now() > deadline) throw error;
      await delay(1_000, undefined, { signal });
    }
  }
}

/** Returns whether a server is unreachable or overloaded. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AssayError) return error.status === 429 || error.status >= 500;
  return error instanceof TypeError && errorCodeOf(error.cause) !== undefined;
}

/** Formats a position in a report; empty if unknown. */
export function formatLocation({ line, offset }: Pick<ImportError, 'line' | 'offset'>): string {
  if (line !== undefined) return `line ${line}`;
  return offset === undefined ? '' : `byte ${offset}`;
}
