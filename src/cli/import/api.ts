import { openAsBlob } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import type { ImportError } from '../../domain/imports/import-types.ts';
import type { ImportUndone, ImportView } from '../../domain/imports/import-list.ts';
import type { ReportFile } from './report-files.ts';
import type { AnyClient } from '../command-target.ts';
import { errorCodeOf, CliError } from '../errors.ts';

/** An import, as operation 67 tells it: what the command line reads of it. */
export interface ImportJob extends Pick<
  ImportView,
  'id' | 'state' | 'format' | 'skips' | 'result' | 'preview' | 'error'
> {
  file: { filename: string; size: number };
  progress: Record<'bytes_read' | 'bytes_total' | 'hosts' | 'ports' | 'findings' | 'skipped', number> & {
    seconds_left: number | null;
  };
  undone: Omit<ImportUndone, 'at'> | null;
}

/** What an import is told beside its file: names and values, of which one may come several times. */
export type ImportFields = readonly (readonly [name: string, value: string])[];

/** The address of one. */
export const IMPORT_ENDPOINT = '/v1/imports/{id}';
const END_STATES: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);
/** How long it waits between two looks, in milliseconds: short for short reports. */
const MIN_POLL_INTERVAL = 20;
const MAX_POLL_INTERVAL = 500;
/** A server may be started anew. */
const RECONNECT_TIMEOUT = 120_000;

/** What Ctrl-C asks for: the end of an import, and when it comes again not to wait for that either. A third ends the process. */
export class CtrlC {
  readonly #cancel = new AbortController();
  readonly #leave = new AbortController();
  readonly #interrupt = (): void => {
    if (this.#cancel.signal.aborted) {
      this.#leave.abort();
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
    return this.#leave.signal;
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
  }
}

/** Sends a report. @param report where it lies, and what the import calls it @returns the import that it became */
export async function postImport(
  client: AnyClient,
  { path, name }: Pick<ReportFile, 'path' | 'name'>,
  fields: ImportFields,
  signal: AbortSignal,
): Promise<ImportJob> {
  const form = new FormData();
  for (const [field, value] of fields) form.append(field, value);
  // The last part: what is behind it is refused.
  form.append('file', await openAsBlob(path), name);
  const { data } = await client.POST('/v1/imports', { body: form, signal });
  return data as ImportJob;
}

/** How an import is followed. */
export interface FollowOptions {
  interruption: Pick<CtrlC, 'cancel' | 'stopWaiting'>;
  /** For how long it looks for a server that went away, in milliseconds; two minutes unless told. */
  reconnectTimeout?: number;
  /** Is told how far it is. */
  show(job: ImportJob): void;
}

/**
 * Waits for the end of an import, wherever it runs. When it is interrupted it cancels the import; interrupted again, it
 * waits no longer.
 * @returns the import as it ended
 * @throws Refusal when it waits no longer
 */
export async function awaitImportEnd(
  client: AnyClient,
  id: number,
  { interruption: { cancel, stopWaiting }, reconnectTimeout = RECONNECT_TIMEOUT, show }: FollowOptions,
): Promise<ImportJob> {
  const init = { params: { path: { id: String(id) } }, signal: stopWaiting };
  let isCancelled = false;
  let pause = MIN_POLL_INTERVAL;
  try {
    for (;;) {
      const job = await withRetry(
        async () => (await client.GET(IMPORT_ENDPOINT, init)).data as unknown as ImportJob,
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
      `Import ${id} ${isCancelled ? 'was told to end' : 'goes on'}, and is not waited for; "assay import follow ${id}" tells how it ends.`,
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
    // It has ended meanwhile.
    if (!(error instanceof AssayError && error.status === 409)) throw error;
  }
}

/** Asks again for a while when nobody answers: the import goes on without who looks at it, and a server may come back. */
async function withRetry<T>(ask: () => Promise<T>, patience: number, leave: AbortSignal): Promise<T> {
  const until = Date.now() + patience;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isServerAway(error) || Date.now() > until) throw error;
      await delay(1_000, undefined, { signal: leave });
    }
  }
}

/** @returns whether an error tells that a server is away, or has no time for anyone */
export function isServerAway(error: unknown): boolean {
  if (error instanceof AssayError) return error.status === 429 || error.status >= 500;
  return error instanceof TypeError && errorCodeOf(error.cause) !== undefined;
}

/** @returns where in a report something stands, in words; empty where nobody knows */
export function formatLocation({ line, offset }: Pick<ImportError, 'line' | 'offset'>): string {
  if (line !== undefined) return `line ${line}`;
  return offset === undefined ? '' : `byte ${offset}`;
}
