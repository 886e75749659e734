import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Moves PostgreSQL's index of words from `vulnerabilities` to a table of its own, so that a change of anything else does
 * not write it, and lets a job fill it after an import as on SQLite (ADR 103). Queued ranges say whose they are: ids of
 * imports that run at the same time alternate on PostgreSQL.
 */
export const searchTable: Migration = {
  name: '0018-search-table',
  statements: (dialect) => [...queue(dialect), ...(dialect.engine === 'postgres' ? words(dialect) : [])],
};

const queue = ({ int, tableOptions }: SchemaDialect): string[] => [
  'alter table search_index_queue rename to earlier_search_index_queue',
  // Has no foreign keys: the job skips vulnerabilities that have been deleted.
  `create table search_index_queue (
    import_id ${int} not null,
    first_id ${int} not null,
    last_id ${int} not null,
    organization_id ${int} not null,
    primary key (import_id, first_id)
  ) ${tableOptions}`,
  // The first vulnerability of a range may have been deleted.
  `insert into search_index_queue (import_id, first_id, last_id, organization_id)
    select import_id, first_id, last_id, organization_id
    from earlier_search_index_queue join vulnerabilities on id = (
      select min(id) from vulnerabilities where id between first_id and last_id and import_id is not null)`,
  'drop table earlier_search_index_queue',
];

const words = ({ int, text }: SchemaDialect): string[] => [
  'drop index if exists vulnerabilities_by_text',
  `create table vulnerability_search (
    id ${int} primary key,
    organization_id ${int} not null,
    search_title ${text} not null,
    search_description ${text} not null
  )`,
  `insert into vulnerability_search (id, organization_id, search_title, search_description)
    select id, organization_id, search_title, search_description from vulnerabilities`,
  `do $$ begin
    create extension if not exists pg_trgm;
    create extension if not exists btree_gin;
    create index vulnerability_search_by_text on vulnerability_search
      using gin (organization_id, search_title gin_trgm_ops, search_description gin_trgm_ops);
  exception when others then
    raise notice 'pg_trgm and btree_gin cannot be had: %', sqlerrm;
    create index vulnerability_search_by_organization on vulnerability_search (organization_id, id);
  end $$`,
  // What an import adds is queued.
  `create function vulnerability_search_insert() returns trigger language plpgsql as $$ begin
    insert into vulnerability_search (id, organization_id, search_title, search_description)
      values (new.id, new.organization_id, new.search_title, new.search_description);
    return null;
  end $$`,
  `create trigger vulnerability_search_insert after insert on vulnerabilities for each row
    when (new.import_id is null) execute function vulnerability_search_insert()`,
  // Adds a row that is still queued: the job that would add it at the same time may have read the earlier words.
  `create function vulnerability_search_update() returns trigger language plpgsql as $$ begin
    insert into vulnerability_search (id, organization_id, search_title, search_description)
      values (new.id, new.organization_id, new.search_title, new.search_description)
      on conflict (id) do update
        set search_title = excluded.search_title, search_description = excluded.search_description;
    return null;
  end $$`,
  `create trigger vulnerability_search_update after update of search_title, search_description on vulnerabilities
    for each row when (new.search_title <> old.search_title or new.search_description <> old.search_description)
    execute function vulnerability_search_update()`,
  `create function vulnerability_search_delete() returns trigger language plpgsql as $$ begin
    delete from vulnerability_search where id = old.id;
    return null;
  end $$`,
  `create trigger vulnerability_search_delete after delete on vulnerabilities for each row
    execute function vulnerability_search_delete()`,
];
