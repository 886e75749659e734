import type { SchemaDialect } from '../migration.ts';

/**
 * Counters that concurrent transactions change. A transaction inserts a row into `counter_deltas`, which locks no row
 * that others need; a job adds the deltas to `counters`. The value is the sum of both (ADR 37). `subject` is the id of
 * the object that `kind` names.
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
