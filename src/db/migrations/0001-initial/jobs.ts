import type { SchemaDialect } from '../migration.ts';

/** Queued and recurring jobs. One instance runs each. */
export const jobsTables = ({ id, int, text, table }: SchemaDialect): string[] => [
  // A row is deleted when its job is done. An instance that takes a job sets `run_at` to the end of its lease.
  `create table jobs (
    id ${id},
    kind ${text} not null,
    key ${text} unique,
    quota_key ${text},
    payload ${text} not null,
    attempts ${int} not null,
    run_at ${int} not null,
    locked_by ${text},
    created_at ${int} not null
  ) ${table}`,
  `create index jobs_by_time on jobs (kind, run_at, id)`,
  `create index jobs_by_quota_key on jobs (kind, quota_key)`,

  // Written and cleared to check whether writes succeed.
  `create table write_probes (
    id ${int} primary key check (id = 1),
    payload ${text} not null
  ) ${table}`,
  `insert into write_probes (id, payload) values (1, '')`,

  // Rows to lock, so that transactions that count queued jobs before adding one are serialized.
  `create table job_queues (kind ${text} primary key) ${table}`,
];
