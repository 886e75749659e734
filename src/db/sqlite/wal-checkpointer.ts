import { closeSync, openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { CheckpointCommand, CheckpointResult, CheckpointWorkerData } from './checkpoint-worker.ts';

/** Frames of the log, one page each, that trigger a checkpoint. SQLite's own default is 1,000. */
export const CHECKPOINT_FRAMES = 4_000;
/** Frames to wait for before the next try, after a checkpoint that could not copy the whole log. */
const RETRY_FRAMES = 1_000;

/** The format of the log, https://www.sqlite.org/fileformat2.html#walformat. */
const LOG_HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
const PAGE_SIZE_OFFSET = 8;
/** Two numbers that change each time the log restarts. Each frame repeats those it was written with. */
const SALTS = { inHeader: 16, inFrame: 8, length: 8 };

/**
 * Checkpoints a long write-ahead log on a worker thread. SQLite would do it in the commit that makes the log long,
 * which blocks the event loop and other writers until 16 MiB are copied and flushed (ADR 80).
 */
export class WalCheckpointer {
  readonly #url: URL;
  readonly #data: CheckpointWorkerData;
  /** The file descriptor of the log. */
  #log: number | undefined;
  #worker: Worker | undefined;
  #copying = false;
  #salts = Buffer.alloc(0);
  /** The number of frames that triggers the next checkpoint. */
  #next = CHECKPOINT_FRAMES;

  /** @param url of the built module `checkpoint-worker` */
  constructor(url: URL, data: CheckpointWorkerData) {
    this.#url = url;
    this.#data = data;
  }

  /** Call after each commit. Never throws, as the commit has succeeded. */
  onCommit(): void {
    try {
      if (this.#copying || !this.#isDue()) return;
      this.#worker ??= this.#start();
      this.#worker.postMessage('copy' satisfies CheckpointCommand, []);
      this.#copying = true;
    } catch {
      // The writing connection checkpoints a log that has grown too long.
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker !== undefined) {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.ref();
      worker.postMessage('end' satisfies CheckpointCommand, []);
      await ended;
    }
    if (this.#log !== undefined) closeSync(this.#log);
  }

  /** Whether the log has frame number `#next`. Compares salts, as the file may have frames of an earlier log there. */
  #isDue(): boolean {
    // Closing a descriptor drops SQLite's locks only for the database file and the index of the log.
    const log = (this.#log ??= openSync(`${this.#data.path}-wal`, 'r'));
    const header = Buffer.alloc(LOG_HEADER_SIZE);
    if (readSync(log, header, 0, header.length, 0) < header.length) return false;
    const salts = header.subarray(SALTS.inHeader, SALTS.inHeader + SALTS.length);
    if (!salts.equals(this.#salts)) {
      this.#salts = salts;
      this.#next = CHECKPOINT_FRAMES;
    }
    const pageSize = header.readUInt32BE(PAGE_SIZE_OFFSET);
    const frameOffset = LOG_HEADER_SIZE + (this.#next - 1) * (FRAME_HEADER_SIZE + pageSize);
    const frameSalts = Buffer.alloc(SALTS.length);
    const bytesRead = readSync(log, frameSalts, 0, frameSalts.length, frameOffset + SALTS.inFrame);
    return bytesRead === frameSalts.length && frameSalts.equals(salts);
  }

  #start(): Worker {
    const worker = new Worker(this.#url, { workerData: this.#data });
    worker.unref();
    const scheduleNext = (frames = 0) => {
      this.#next = Math.max(frames, this.#next) + RETRY_FRAMES;
      this.#copying = false;
    };
    worker.on('message', ({ frames }: CheckpointResult) => {
      scheduleNext(frames);
      // The log may have grown during the checkpoint, and no commit may follow.
      this.onCommit();
    });
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = undefined;
      if (this.#copying) scheduleNext();
    });
    return worker;
  }
}
