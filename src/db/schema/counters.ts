import type { Generated } from 'kysely';

/** Counters that concurrent transactions change. The value of a counter is the sum of both tables. */
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
