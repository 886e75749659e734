import type { Context } from '../runtime/context.ts';
import { foldTallies } from '../domain/shared/counters.ts';
import type { JobKind } from './runner.ts';

const EVERY = 20_000;
/** Differences folded in one unit of work, so that others need not wait long. */
const AT_ONCE = 2_000;

/** Folds the differences of counts into the counts, so that there are few to sum. */
export const tallies = ({ db }: Context): JobKind => ({
  kind: 'tallies',
  every: EVERY,
  maxAttempts: 3,
  async run({ signal }) {
    for (let folded = AT_ONCE; folded === AT_ONCE;) {
      signal.throwIfAborted();
      // A look costs less than a unit of work, and mostly there is nothing.
      const some = await db.read.selectFrom('tally_differences').select('id').limit(1).execute();
      folded = some.length === 0 ? 0 : await db.write((tx) => foldTallies(tx, AT_ONCE));
    }
  },
});
