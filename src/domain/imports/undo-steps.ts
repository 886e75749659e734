import type { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';
import type { Transaction } from '../../db/engine.ts';

/** The result of one transaction of an undo; `last` is the id to continue after, `null` at the end. */
export interface UndoStep {
  last: number | null;
  done: number;
  kept: number;
}

/**
 * Runs a step in one transaction after the other until it says that it is at the end.
 * @returns the sums of all
 */
export async function inSteps(
  writer: AdaptiveWriter,
  step: (tx: Transaction, after: number, limit: number) => Promise<UndoStep>,
): Promise<Omit<UndoStep, 'last'>> {
  const sums = { done: 0, kept: 0 };
  for (let after: number | null = 0; after !== null;) {
    const from: number = after;
    const limit = writer.batchSize;
    const { last, done, kept }: UndoStep = await writer.write(limit, (tx) => step(tx, from, limit));
    sums.done += done;
    sums.kept += kept;
    after = last;
  }
  return sums;
}
