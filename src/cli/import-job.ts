import { openAsBlob } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { AssayError } from '#client';
import { type ReportFile, withFile } from './import-files.ts';
import type { AnyClient } from './place.ts';
import { codeOf, Refusal } from './refusal.ts';

/** An import, as operation 67 tells it; what the command line reads of it. */
export interface ImportJob {
  id: number;
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  format: string;
  file: { filename: string; size: number };
  progress: {
    bytes_read: number;
    bytes_total: number;
    hosts: number;
    ports: number;
    findings: number;
    skipped: number;
    seconds_left: number | null;
  };
  skips: readonly ({ reason: string; count: number } & Where)[];
  result: {
    assets_created: number;
    assets_updated: number;
    ports_opened: number;
    ports_closed: number;
    findings_created: number;
    findings_seen_again: number;
    findings_reopened: number;
    findings_gone: number;
  } | null;
  /** Of a dry run. */
  preview: Record<'new' | 'again' | 'reopened' | 'gone', readonly Previewed[]> | null;
  error: ({ message: string } & Where) | null;
  undone: { findings: number; assets: number; statuses: number; kept: number } | null;
}

export interface Where {
  line?: number | null;
  offset?: number | null;
}

export interface Previewed {
  title: string;
  asset?: string | null;
}

/** What an import is told beside its file: names and values, of which one may come several times. */
export type ImportFields = readonly (readonly [name: string, value: string])[];

/** The address of one. */
export const IMPORT = '/v1/imports/{id}';
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);
/** How long it waits between two looks, in milliseconds: short for short reports. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 500;
/** For how long it looks for a server that went away, in milliseconds: it may be started anew. */
const PATIENCE = 120_000;

/** What Ctrl-C asks for: the end of an import, and when it comes again not to wait for that either. */
export class Interruption {
  readonly #cancel = new AbortController();
  readonly #leave = new AbortController();
  readonly #interrupt = (): void => {
    if (this.#cancel.signal.aborted) this.#leave.abort();
    this.#cancel.abort();
  };

  constructor() {
    process.on('SIGINT', this.#interrupt);
  }

  get cancel(): AbortSignal {
    return this.#cancel.signal;
  }

  get leave(): AbortSignal {
    return this.#leave.signal;
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
  }
}

/** Sends a report as it lies in its file. @returns the import that it became */
export function startImport(
  client: AnyClient,
  { path, name }: ReportFile,
  fields: ImportFields,
  signal: AbortSignal,
): Promise<ImportJob> {
  return withFile(path, async (file) => {
    const form = new FormData();
    for (const [field, value] of fields) form.append(field, value);
    // The last part: what is behind it is refused.
    form.append('file', await openAsBlob(file), name);
    const { data } = await client.POST('/v1/imports', { body: form, signal });
    return data as ImportJob;
  });
}

/**
 * Waits for the end of an import, wherever it runs. When it is interrupted it cancels the import; interrupted again, it
 * leaves it alone.
 * @param show is told how far it is
 * @returns the import as it ended
 */
export async function followImport(
  client: AnyClient,
  id: number,
  interruption: Pick<Interruption, 'cancel' | 'leave'>,
  show: (job: ImportJob) => void,
): Promise<ImportJob> {
  const params = { path: { id: String(id) } };
  const waking = AbortSignal.any([interruption.cancel, interruption.leave]);
  let isCancelled = false;
  let pause = FIRST_PAUSE;
  for (;;) {
    const job = await patiently(async () => (await client.GET(IMPORT, { params })).data as ImportJob);
    show(job);
    if (ENDED.has(job.state)) return job;
    if (interruption.leave.aborted)
      throw new Refusal(`Import ${id} was left as it is; "assay import get ${id}" tells how it ends.`);
    if (interruption.cancel.aborted && !isCancelled) {
      isCancelled = true;
      await cancelImport(client, id);
    }
    await delay(pause, undefined, isCancelled ? { signal: interruption.leave } : { signal: waking }).catch(
      () => undefined,
    );
    pause = Math.min(pause * 1.5, LONGEST_PAUSE);
  }
}

async function cancelImport(client: AnyClient, id: number): Promise<void> {
  try {
    await client.POST(`${IMPORT}/cancel`, { params: { path: { id: String(id) } } });
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof AssayError && error.status === 409)) throw error;
  }
}

/** Asks again for a while when nobody answers: the import goes on without who looks at it, and a server may come back. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const until = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error) || Date.now() > until) throw error;
      await delay(1_000);
    }
  }
}

/** @returns whether an error tells that a server is away, or has no time for anyone */
export function isAway(error: unknown): boolean {
  if (error instanceof AssayError) return error.status === 429 || error.status >= 500;
  return error instanceof TypeError && codeOf(error.cause) !== undefined;
}

/** @returns where in a report something stands, in words; empty where nobody knows */
export function placeIn({ line, offset }: Where): string {
  if (line !== undefined && line !== null) return `line ${line}`;
  return offset === undefined || offset === null ? '' : `byte ${offset}`;
}
