import type { SchemaDialect } from '../migration.ts';

/**
 * Counts that many change at once. Whoever changes one adds a row to `tally_differences`, which nobody else waits for; a job
 * folds them into `tallies`. A count is the sum of both (ADR 37). The subject is the id of what the kind names.
 */
export const countersTables = ({ id, int, text, table, clustered }: SchemaDialect): string[] => [
  `create table tallies (
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null,
    primary key (kind, subject, bucket)
  ) ${clustered}`,

  `create table tally_differences (
    id ${id},
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null
  ) ${table}`,
  `create index tally_differences_by_subject on tally_differences (kind, subject, bucket, amount)`,
];
