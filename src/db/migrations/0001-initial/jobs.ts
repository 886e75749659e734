import type { SchemaDialect } from '../migration.ts';

/** Work that is done once and by one, whichever instance takes it. */
export const jobsTables = ({ id, int, text, table }: SchemaDialect): string[] => [
  // A row goes when its work is done. Whoever takes it moves `run_at` on, and so has it until then.
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

  // What is written, and taken away again, to find out whether writes succeed.
  `create table write_probes (
    id ${int} primary key check (id = 1),
    payload ${text} not null
  ) ${table}`,
  `insert into write_probes (id, payload) values (1, '')`,

  // A row to hold, so that those who count what waits before they add to it do so one after the other.
  `create table job_queues (kind ${text} primary key) ${table}`,
];
