import type { Generated } from 'kysely';

/** Counts that many change at once: each is the sum of what both tables have. */
export interface CountersTables {
  counters: { kind: string; subject: number; bucket: string; amount: number };
  counter_deltas: {
    id: Generated<number>;
    kind: string;
    subject: number;
    bucket: string;
    amount: number;
  };
}
