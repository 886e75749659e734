import { assessmentsTables } from './0001-initial/assessments.ts';
import { assetsTables } from './0001-initial/assets.ts';
import { evidenceTables } from './0001-initial/evidence.ts';
import { importsTables } from './0001-initial/imports.ts';
import { usersTables } from './0001-initial/users.ts';
import { signInTables } from './0001-initial/sign-in.ts';
import { tokensTables } from './0001-initial/tokens.ts';
import { vulnerabilitiesTables, vulnerabilityAssetsTables } from './0001-initial/vulnerabilities.ts';
import type { Migration, SchemaDialect } from './migration.ts';

/** Organizations, and groups of them. */
const organizationsTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  `create table organizations (
    id ${id},
    uid ${text} not null unique,
    kind ${text} not null check (kind in ('organization', 'group')),
    name ${text} not null,
    created_at ${int} not null,
    require_second_factor ${int} not null default 0 check (require_second_factor in (0, 1)),
    version ${int} not null default 1
  ) ${tableOptions}`,

  `create index organizations_by_name on organizations (name, id) where kind = 'organization'`,

  `create table organization_group_members (
    group_id ${int} not null references organizations (id) on delete cascade,
    organization_id ${int} not null references organizations (id) on delete cascade,
    primary key (group_id, organization_id)
  ) ${clusteredOptions}`,
  `create index organization_group_members_by_organization on organization_group_members (organization_id, group_id)`,
];

/** Files of organizations; equal content is stored once (ADR 40). */
const filesTables = ({ id, int, text, bytes, tableOptions }: SchemaDialect): string[] => [
  `create table blobs (
    key ${text} primary key,
    created_at ${int} not null,
    state ${int} not null check (state in (0, 1, 2))
  ) ${tableOptions}`,
  `create index blobs_unused on blobs (created_at) where state <> 1`,

  // Used if file content is stored in the database.
  `create table blob_chunks (
    key ${text} not null references blobs (key) on delete cascade,
    number ${int} not null,
    bytes ${bytes} not null,
    primary key (key, number)
  ) ${tableOptions}`,

  `create table files (
    id ${id},
    organization_id ${int} not null references organizations (id),
    sha256 ${text} not null,
    size ${int} not null,
    blob_key ${text} not null unique references blobs (key),
    unique (organization_id, sha256),
    unique (organization_id, id)
  ) ${tableOptions}`,
];

/**
 * Counters that concurrent transactions change. A transaction inserts a row into `counter_deltas`, which locks no row
 * that others need; a job adds the deltas to `counters`. The value is the sum of both (ADR 37). `subject` is the id of
 * the object that `kind` names.
 */
const countersTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  `create table counters (
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null,
    primary key (kind, subject, bucket)
  ) ${clusteredOptions}`,

  `create table counter_deltas (
    id ${id},
    kind ${text} not null,
    subject ${int} not null,
    bucket ${text} not null,
    amount ${int} not null
  ) ${tableOptions}`,
  `create index counter_deltas_by_subject on counter_deltas (kind, subject, bucket, amount)`,
];

const auditTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  // No foreign keys: events outlive the objects that they refer to.
  `create table audit_events (
    id ${id},
    at ${int} not null,
    action ${text} not null,
    object_type ${text} not null,
    object_id ${text},
    organization_id ${int},
    actor_kind ${text} not null
      check (actor_kind in ('user', 'client', 'command_line', 'system', 'stranger')),
    user_id ${int},
    credential_id ${text},
    address ${text},
    request_id ${text},
    before ${text},
    after ${text},
    count ${int} not null default 1,
    denied_key ${text}
  ) ${tableOptions}`,
  // Events are read by time, then id. The last three indexes serve filters by one value, within one organization or in
  // all.
  `create index audit_events_by_time on audit_events (at, id)`,
  `create index audit_events_by_organization on audit_events (organization_id, at, id)`,
  `create index audit_events_by_object on audit_events (object_id, organization_id, at, id) where object_id is not null`,
  `create index audit_events_by_user on audit_events (user_id, organization_id, at, id) where user_id is not null`,
  `create index audit_events_by_request on audit_events (request_id, organization_id) where request_id is not null`,
  // Changes have no key.
  `create unique index audit_events_by_denied_key on audit_events (denied_key) where denied_key is not null`,

  // The number of rows for the denied attempts of a minute. Transactions that insert such rows lock the minute's row.
  `create table denied_attempt_minutes (
    minute ${int} primary key,
    events ${int} not null
  ) ${clusteredOptions}`,
];

/** Queued and recurring jobs. One instance runs each. */
const jobsTables = ({ id, int, text, tableOptions }: SchemaDialect): string[] => [
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
  ) ${tableOptions}`,
  `create index jobs_by_time on jobs (kind, run_at, id)`,
  `create index jobs_by_quota_key on jobs (kind, quota_key)`,

  // Written and cleared to check whether writes succeed.
  `create table write_probes (
    id ${int} primary key check (id = 1),
    payload ${text} not null
  ) ${tableOptions}`,
  `insert into write_probes (id, payload) values (1, '')`,

  // Rows to lock, so that transactions that count queued jobs before adding one are serialized.
  `create table job_queues (kind ${text} primary key) ${tableOptions}`,
];

/** Stored responses, replayed to repeated requests. Deleted with the account that sent the request. */
const idempotencyKeysTables = ({ int, text, tableOptions }: SchemaDialect): string[] => [
  `create table idempotency_keys (
    id ${text} primary key,
    user_id ${int} not null references users (id) on delete cascade,
    request_hash ${text} not null,
    status ${int} not null,
    headers ${text} not null,
    version ${int},
    body ${text} not null,
    body_is_gzip ${int} not null check (body_is_gzip in (0, 1)),
    created_at ${int} not null
  ) ${tableOptions}`,
  `create index idempotency_keys_by_user on idempotency_keys (user_id)`,
  `create index idempotency_keys_by_time on idempotency_keys (created_at)`,
];

/** The values that bulk changes replaced. Deleted with the account that made the change. */
const bulkChangesTables = ({ id, int, text, tableOptions }: SchemaDialect): string[] => [
  `create table bulk_changes (
    id ${id},
    request_id ${text} not null,
    user_id ${int} references users (id) on delete cascade,
    changed_at ${int} not null,
    replaced ${text} not null
  ) ${tableOptions}`,
  `create index bulk_changes_by_request on bulk_changes (request_id)`,
  `create index bulk_changes_by_user on bulk_changes (user_id) where user_id is not null`,
  `create index bulk_changes_by_time on bulk_changes (changed_at)`,
];

/**
 * Trigram search in titles and descriptions. On SQLite, a contentless FTS table that triggers maintain. Each row has a
 * mark of three private-use characters for its organization, so that a search does not read the matches of others.
 * Imported vulnerabilities are added later, in small steps (ADR 52). On PostgreSQL, an index if its extensions are
 * available; otherwise a search reads every row of the organization.
 */
const vulnerabilitySearch = ({ engine }: SchemaDialect): string[] =>
  engine === 'sqlite' ? SQLITE : POSTGRES;

/** The same as `organizationMark` in `src/db/vulnerability-search.ts`. */
const ORGANIZATION_MARK = `char(983040 + new.organization_id % 65000, 983040 + new.organization_id / 65000 % 65000, 983040)`;
const SQLITE = [
  `create virtual table vulnerability_search using fts5 (mark, search_title, search_description, content = '',
    contentless_delete = 1, tokenize = 'trigram case_sensitive 1')`,
  `create trigger vulnerability_search_insert after insert on vulnerabilities when new.import_id is null begin
    insert into vulnerability_search (rowid, mark, search_title, search_description)
      values (new.id, ${ORGANIZATION_MARK}, new.search_title, new.search_description);
  end`,
  `create trigger vulnerability_search_update after update of search_title, search_description on vulnerabilities
    when new.search_title <> old.search_title or new.search_description <> old.search_description begin
    update vulnerability_search set mark = ${ORGANIZATION_MARK}, search_title = new.search_title, search_description = new.search_description
      where rowid = new.id;
  end`,
  `create trigger vulnerability_search_delete after delete on vulnerabilities begin
    delete from vulnerability_search where rowid = old.id;
  end`,
];

const POSTGRES = [
  `do $$ begin
    create extension if not exists pg_trgm;
    create extension if not exists btree_gin;
    create index vulnerabilities_by_text on vulnerabilities
      using gin (organization_id, search_title gin_trgm_ops, search_description gin_trgm_ops);
  exception when others then
    raise notice 'pg_trgm and btree_gin cannot be had: %', sqlerrm;
  end $$`,
];

/** All tables, each after those that it refers to. */
export const initial: Migration = {
  name: '0001-initial',
  statements: (dialect) => [
    ...organizationsTables(dialect),
    ...usersTables(dialect),
    ...tokensTables(dialect),
    ...assessmentsTables(dialect),
    ...filesTables(dialect),
    ...vulnerabilitiesTables(dialect),
    ...evidenceTables(dialect),
    ...assetsTables(dialect),
    ...vulnerabilityAssetsTables(dialect),
    ...importsTables(dialect),
    ...vulnerabilitySearch(dialect),
    ...countersTables(dialect),
    ...signInTables(dialect),
    ...auditTables(dialect),
    ...jobsTables(dialect),
    ...idempotencyKeysTables(dialect),
    ...bulkChangesTables(dialect),
  ],
};
