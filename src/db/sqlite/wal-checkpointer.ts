import { closeSync, openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { CheckpointCommand, CheckpointResult, CheckpointWorkerData } from './checkpoint-worker.ts';

/** Frames of the log, a page each, from which on it is copied; what SQLite itself takes for it is 1,000. */
export const CHECKPOINT_FRAMES = 4_000;
/** Frames that are to come before a copy is tried again, after one that could not take all. */
const RETRY_FRAMES = 1_000;

/** Of the log, https://www.sqlite.org/fileformat2.html#walformat. */
const LOG_HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
const PAGE_SIZE_OFFSET = 8;
/** Two numbers that are others each time that the log begins anew; each frame has those that it was written with. */
const SALTS = { inHeader: 16, inFrame: 8, length: 8 };

/**
 * Has a thread bring the log into the database file when it has become long. SQLite would do it in the commit that makes
 * it long, and so hold the event loop, and whoever waits to write, until 16 MiB are copied and on the disk (ADR 80).
 */
export class WalCheckpointer {
  readonly #url: URL;
  readonly #data: CheckpointWorkerData;
  #log: number | undefined;
  #thread: Worker | undefined;
  #copying = false;
  #salts = Buffer.alloc(0);
  #next = CHECKPOINT_FRAMES;

  /** @param url of the module `checkpoint-thread`, built */
  constructor(url: URL, data: CheckpointWorkerData) {
    this.#url = url;
    this.#data = data;
  }

  /** To be called after each commit, which has succeeded whatever happens here. */
  onCommit(): void {
    try {
      if (this.#copying || !this.#hasFrame()) return;
      this.#thread ??= this.#start();
      this.#thread.postMessage('copy' satisfies CheckpointCommand, []);
      this.#copying = true;
    } catch {
      // The writer copies the log itself when nobody else has.
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread !== undefined) {
      const ended = new Promise((resolve) => thread.once('exit', resolve));
      thread.ref();
      thread.postMessage('end' satisfies CheckpointCommand, []);
      await ended;
    }
    if (this.#log !== undefined) closeSync(this.#log);
  }

  /** Whether the log has the frame with which it is to be copied: what lies there may be of an earlier log. */
  #hasFrame(): boolean {
    // Only of the database itself and of the index of its log does SQLite lose locks when somebody closes them.
    const log = (this.#log ??= openSync(`${this.#data.path}-wal`, 'r'));
    const header = Buffer.alloc(LOG_HEADER_SIZE);
    if (readSync(log, header, 0, header.length, 0) < header.length) return false;
    const salts = header.subarray(SALTS.inHeader, SALTS.inHeader + SALTS.length);
    if (!salts.equals(this.#salts)) {
      this.#salts = salts;
      this.#next = CHECKPOINT_FRAMES;
    }
    const frame =
      LOG_HEADER_SIZE + (this.#next - 1) * (FRAME_HEADER_SIZE + header.readUInt32BE(PAGE_SIZE_OFFSET));
    const found = Buffer.alloc(SALTS.length);
    return (
      readSync(log, found, 0, found.length, frame + SALTS.inFrame) === found.length && found.equals(salts)
    );
  }

  #start(): Worker {
    const thread = new Worker(this.#url, { workerData: this.#data });
    thread.unref();
    const tryAfter = (frames = 0) => {
      this.#next = Math.max(frames, this.#next) + RETRY_FRAMES;
      this.#copying = false;
    };
    thread.on('message', ({ frames }: CheckpointResult) => {
      tryAfter(frames);
      // Much may have been written meanwhile, and nothing may follow.
      this.onCommit();
    });
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      this.#thread = undefined;
      if (this.#copying) tryAfter();
    });
    return thread;
  }
}
