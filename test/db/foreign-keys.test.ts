import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { REFERENCES_BY_ACTIONS } from '../../src/domain/users/ban-user.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const { db } = await useOwnDatabase();

/** A foreign key or an index. The columns are separated by spaces, in order. */
interface Columns {
  table: string;
  columns: string;
  target?: string;
  /** The condition of a partial index. */
  condition?: string | null;
}

const FOREIGN_KEYS = {
  sqlite: sql<Columns>`select t.name as "table", group_concat(f."from", ' ') as columns, f."table" as target
    from sqlite_schema as t, pragma_foreign_key_list(t.name) as f where t.type = 'table' group by t.name, f.id`,
  postgres: sql<Columns>`select conrelid::regclass::text as "table", (select string_agg(attname, ' ' order by place)
      from unnest(conkey) with ordinality as key (number, place)
      join pg_attribute on attrelid = conrelid and attnum = number) as columns, confrelid::regclass::text as target
    from pg_constraint where contype = 'f'`,
};

/** Includes primary keys. */
const INDEXES = {
  sqlite: sql<Columns>`select t.name as "table", i.sql as condition, (select group_concat(name, ' ') from
        (select name from pragma_index_info(l.name) order by seqno)) as columns
      from sqlite_schema as t, pragma_index_list(t.name) as l left join sqlite_schema as i on i.name = l.name and l.partial
      where t.type = 'table'
    union all select t.name, null, c.name from sqlite_schema as t, pragma_table_info(t.name) as c
      where t.type = 'table' and c.pk = 1`,
  postgres: sql<Columns>`select indrelid::regclass::text as "table", pg_get_expr(indpred, indrelid) as condition,
      (select string_agg(coalesce(attname, '?'), ' ' order by place) from unnest(indkey) with ordinality as key (number, place)
        left join pg_attribute on attrelid = indrelid and attnum = number) as columns
    from pg_index where indrelid in (select conrelid from pg_constraint where contype = 'f')`,
};

/**
 * Whether an index finds the rows that refer to a row. The organization alone would find too many, and an index without
 * NULLs still has every reference.
 */
function serves({ columns, condition }: Columns, key: readonly string[]): boolean {
  const names = columns.split(' ');
  const leading = names.slice(0, names.findIndex((name) => !key.includes(name)) >>> 0);
  const [, notNull] =
    /\bwhere (\w+) is not null$|^\((\w+) IS NOT NULL\)$/.exec(condition ?? '')?.filter(Boolean) ?? [];
  return (
    (condition == null || (notNull !== undefined && key.includes(notNull))) &&
    leading.some((name) => name !== 'organization_id' || key.length === 1)
  );
}

it('Each foreign key has an index, as a deletion looks for the rows that refer to it', async () => {
  const keys = (await FOREIGN_KEYS[engine()].execute(db.read)).rows;
  const indexes = (await INDEXES[engine()].execute(db.read)).rows;
  expect(keys.length).toBeGreaterThan(60);
  const without = keys.filter(
    (key) => !indexes.some((index) => index.table === key.table && serves(index, key.columns.split(' '))),
  );
  expect(without).toEqual([]);
});

/** Tables with an account's own data, which are deleted with an unused account. */
const TABLES_OF_ACCOUNTS = [
  'assessment_access',
  'assessment_group_members',
  'authorization_codes',
  'idempotency_keys',
  'identities',
  'oauth_clients',
  'oauth_consents',
  'passkeys',
  'password_resets',
  'recovery_codes',
  'refresh_tokens',
  'sessions',
  'staff_organizations',
  'totp_secrets',
];

it('Each foreign key to users either keeps the account or is of a table that is deleted with it', async () => {
  const keys = (await FOREIGN_KEYS[engine()].execute(db.read)).rows
    .filter(({ target }) => target === 'users')
    .map(({ table, columns }) => `${table}.${columns.replace(/^organization_id | user_uid$/g, '')}`);
  const keeping = REFERENCES_BY_ACTIONS.map((reference) => reference.join('.'));
  expect(keys.sort()).toEqual(
    [
      ...keeping.filter((key) => key !== 'audit_events.user_id'),
      ...TABLES_OF_ACCOUNTS.map((table) => `${table}.user_id`),
    ].sort(),
  );
});
