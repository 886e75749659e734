import type { SchemaDialect } from '../migration.ts';

/** Files of organizations; equal content is stored once (ADR 40). */
export const filesTables = ({ id, int, text, bytes, table }: SchemaDialect): string[] => [
  `create table blobs (
    key ${text} primary key,
    created_at ${int} not null,
    state ${int} not null check (state in (0, 1, 2))
  ) ${table}`,
  `create index blobs_unused on blobs (created_at) where state <> 1`,

  // Used if file content is stored in the database.
  `create table blob_chunks (
    key ${text} not null references blobs (key) on delete cascade,
    number ${int} not null,
    bytes ${bytes} not null,
    primary key (key, number)
  ) ${table}`,

  `create table files (
    id ${id},
    organization_id ${int} not null references organizations (id),
    sha256 ${text} not null,
    size ${int} not null,
    blob_key ${text} not null unique references blobs (key),
    unique (organization_id, sha256),
    unique (organization_id, id)
  ) ${table}`,
];
