import { describe, expect, it } from 'vitest';
import { useOwnDatabase } from '../harness/database.ts';
import { checkSequences } from '../harness/import-sequences/check-sequences.ts';
import { engine } from '../harness/server.ts';

/** Sequences per test. `scripts/import-sequences.ts` runs any number. */
const PER_TEST = 100;
const TESTS = engine() === 'sqlite' ? 10 : 2;
/** Enough to keep the processor busy while another one waits for the database. */
const PARALLEL = engine() === 'sqlite' ? 2 : 8;

const { db } = await useOwnDatabase();

describe('Any sequence of imports, undos and changes by people', () => {
  it.each(Array.from({ length: TESTS }, (_, index) => 1 + index * PER_TEST))(
    `gives what the standing imports give in the order of their times (${PER_TEST} from seed %i)`,
    async (seed) => {
      const failures = await checkSequences(db, { seed, count: PER_TEST, parallel: PARALLEL });
      expect(failures.map((failure) => `Seed ${failure.seed} fails:\n${failure.text}`).join('\n\n')).toBe('');
    },
  );
});
