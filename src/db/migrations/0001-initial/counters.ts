import type { SchemaDialect } from '../migration.ts';

/**
 * Counts that many change at once. Whoever changes one adds a row to `counter_deltas`, which nobody else waits for; a job
 * folds them into `counters`. A count is the sum of both (ADR 37). The subject is the id of what the kind names.
 */
export const countersTables = ({ id, int, text, table, clustered }: SchemaDialect): string[] => [
  `create table counters (
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null,
    primary key (kind, subject, bucket)
  ) ${clustered}`,

  `create table counter_deltas (
    id ${id},
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null
  ) ${table}`,
  `create index counter_deltas_by_subject on counter_deltas (kind, subject, bucket, amount)`,
];
