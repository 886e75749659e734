import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between other requests, so that these do not slow the measured work down. */
const READ_EVERY = 20;
const WRITE_EVERY = 50;
/** Requests before the work, for comparison. */
const QUIET_REQUESTS = 200;
const WARM_UP = QUIET_REQUESTS / 4;

/** Requests of other users beside the measured work. Both return their milliseconds. */
export interface Others {
  read(): Promise<number>;
  write(number: number): Promise<number>;
}

/** @returns the p99 of reads when nothing else runs, in milliseconds */
export async function measureQuietReads({ read }: Pick<Others, 'read'>): Promise<number> {
  for (let number = 0; number < WARM_UP; number += 1) await read();
  const times: number[] = [];
  while (times.length < QUIET_REQUESTS) {
    times.push(await read());
    await delay(READ_EVERY);
  }
  return p99Of(times);
}

/** Does the work while others read and write. @returns its result, and their p99 meanwhile in milliseconds */
export async function runBesideOthers<Result>(
  { read, write }: Others,
  work: () => Promise<Result>,
): Promise<{ result: Result; p99: { reads: number; writes: number } }> {
  const ended = new AbortController();
  const [result, reads, writes] = await Promise.all([
    work().finally(() => ended.abort()),
    repeat(ended.signal, READ_EVERY, () => read()),
    repeat(ended.signal, WRITE_EVERY, (number) => write(number)),
  ]);
  return { result, p99: { reads: p99Of(reads), writes: p99Of(writes) } };
}

/** Repeats a request until the signal is aborted, with a pause in milliseconds after each. @returns their latencies */
export async function repeat(
  signal: AbortSignal,
  pause: number,
  work: (number: number) => Promise<number>,
): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; !signal.aborted; number += 1) {
    times.push(await work(number));
    if (pause > 0) await delay(pause);
  }
  return times;
}

/** @returns milliseconds */
export async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export function p99Of(times: readonly number[]): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}
