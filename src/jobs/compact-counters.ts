import type { Context } from '../runtime/context.ts';
import { compactCounters } from '../domain/shared/counters.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 20_000;
/** Differences folded in one unit of work, so that others need not wait long. */
const BATCH_SIZE = 2_000;

/** Folds the differences of counts into the counts, so that there are few to sum. */
export const compactCountersJob = ({ db }: Context): JobHandler => ({
  kind: 'tallies',
  interval: INTERVAL,
  maxAttempts: 3,
  async run({ signal }) {
    for (let folded = BATCH_SIZE; folded === BATCH_SIZE;) {
      signal.throwIfAborted();
      // A look costs less than a unit of work, and mostly there is nothing.
      const some = await db.read.selectFrom('tally_differences').select('id').limit(1).execute();
      folded = some.length === 0 ? 0 : await db.write((tx) => compactCounters(tx, BATCH_SIZE));
    }
  },
});
