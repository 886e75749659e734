import type { Context } from '../context.ts';
import { fillSearch } from '../db/vulnerability-search.ts';
import type { JobKind } from './runner.ts';

const EVERY = 10_000;
/** Vulnerabilities in one unit of work: their words take some 0.2 ms each. */
const AT_ONCE = 100;

/** Has what imports made be found by its words, in small steps that let others write. */
export const search = ({ db }: Context): JobKind => ({
  kind: 'search',
  every: EVERY,
  maxAttempts: 3,
  async run({ signal }) {
    for (;;) {
      signal.throwIfAborted();
      // A look costs less than a unit of work, and mostly there is nothing.
      const some = await db.read.selectFrom('search_pending').select('first_id').limit(1).execute();
      if (some.length === 0) return;
      await db.write((tx) => fillSearch(tx, AT_ONCE));
    }
  },
});
