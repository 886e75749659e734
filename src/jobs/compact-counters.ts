import { compactCounters } from '../domain/shared/counters.ts';
import type { Context } from '../context.ts';
import type { JobHandler } from './runner.ts';

const INTERVAL = 20_000;
/** Deltas per transaction, so that other writers do not wait long. */
const BATCH_SIZE = 2_000;

/** Adds counter deltas to their counters, so that reading a counter sums few rows. */
export const compactCountersJob = ({ db }: Context): JobHandler => ({
  kind: 'compact-counters',
  interval: INTERVAL,
  maxAttempts: 3,
  async run({ signal }) {
    for (let compacted = BATCH_SIZE; compacted === BATCH_SIZE;) {
      signal.throwIfAborted();
      // A read is cheaper than a transaction, and there is rarely anything to do.
      const [delta] = await db.read.selectFrom('counter_deltas').select('id').limit(1).execute();
      compacted = delta === undefined ? 0 : await db.write((tx) => compactCounters(tx, BATCH_SIZE));
    }
  },
});
