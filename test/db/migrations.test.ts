import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCatalog } from '../../scripts/schema-types.ts';
import { type Database, StorageError } from '../../src/db/database.ts';
import { checksumOf, dialects, IncompatibleDatabase, migrations } from '../../src/db/migrate.ts';
import { operatorCaller } from '../../src/auth/callers.ts';
import { selectIds } from '../../src/db/dialect-sql.ts';
import { indexPending, searchColumns, selectIdsContaining } from '../../src/db/vulnerability-search.ts';
import { caseFolding } from '../../src/db/migrations/0006-case-folding.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { reconcileFindings } from '../../src/domain/imports/reconcile-findings.ts';
import { DeltaAccumulator } from '../../src/domain/shared/counters.ts';
import { foldCase } from '../../src/lib/fold-case.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { isLinear } from '../harness/growth.ts';
import { engine } from '../harness/server.ts';
import { readAndRecount } from '../harness/vulnerability-counters.ts';

let testDatabase: TestDatabase;
let opened: Database[];

beforeEach(async () => {
  testDatabase = await createTestDatabase('unmigrated');
  opened = [];
});
afterEach(async () => {
  for (const db of opened) await db.close();
  await testDatabase.drop();
});

async function open(timeout = 30_000): Promise<Database> {
  const db = await openDatabase({ ...testDatabase, timeout });
  opened.push(db);
  return db;
}

const FIXTURES = join(import.meta.dirname, '../fixtures/databases');

/** The checksums on SQLite and PostgreSQL. Add those of new migrations; never change one that a release contained. */
const RELEASED: Readonly<Record<string, readonly [sqlite: string, postgres: string]>> = {
  '0001-initial': [
    '95db509a0e34a637205238d32d67b49cf442ebd5639ee4ee2665ebbac1fba434',
    '44705a57553be4332ba8223e79cd13142f8e6cc7b70edd3f50ca210e52bd0a1f',
  ],
  '0002-foreign-key-indexes': [
    'a2e5780d11ece4fb3406c42742454e8b9043d0ed79ecc25203ad4359f8385508',
    'a2e5780d11ece4fb3406c42742454e8b9043d0ed79ecc25203ad4359f8385508',
  ],
  '0003-mail-delivery': [
    'f1e369ce9d519cb311c0dba0d37fb8eed0d0aa8afaa61a362f2f987bf6e63df4',
    '95abb60965cc4683705fe08b69abe3726ee7aab761f1b285322926cb71603122',
  ],
  '0004-last-import-starts': [
    '6a200ff5942f82e2e92da5c00f538a6173c0cb101e7b2b303bc2b614ceebff0c',
    '346debb1d950e5ba0c3811e7a219f2889148f0104a4d1df6bafb17e9742a5045',
  ],
  '0005-token-creators': [
    'd7c6a7db5dbdafd3c7134c4fc19728c9e55d9fb48a609af663d50db57e9d3d0a',
    '9b99761b7abc7276b665ffc664a745bcafb89aedb16728ba4f7c6ddecc682e68',
  ],
  '0006-case-folding': [
    '23fbe09d1d52e610d8d65b5bb6f12f0efdd3c1e6dfbc371c3b68904e21130452',
    '63b53c78e9e4195b33d0aeeec0807eac4f273e47f7a8e1ca3fb4cf65af1b5009',
  ],
  '0007-trusted-email-providers': [
    '2ace2dc0d8d067c817067c5457096348fb496d7d5be264797b2ee00d46bfc03c',
    '8cc123c86e01ae48369383a73e34d66c71d6439fd817c6516f8681ec37c9d11c',
  ],
  '0008-detections': [
    'e3b2a8308b5be171e84dd36b6e8eb5a659a898ab323a34d4f286d720ecd74c61',
    'fb90a4c671c3b3d0358b0ba9b72147f74cc027d6bdb22dbe624d7e5b64554188',
  ],
  '0009-host-detections': [
    '13a60775b3abce8864e16c22178114820b73c2faee368f80dafbf461e5542717',
    '9ef48f3bd8f518edb4bc90d1ac763d3a73b4e28b2a95118b786b8d10616fe439',
  ],
  '0010-roles': [
    '0130b34ee76e1af099ebacef2ea989484c9b44c101305c6986a0f887ac81bcde',
    'f880f6c24cc490d48d140ee741bdfa9aaffe16f4d14dfc4802ad6bd28f9dd547',
  ],
  '0011-evidence': [
    '7a4aba0495d9442c1e8d1c69a409334a336a27635edea597dc971533521de3db',
    '30a8e46be914ac57f25d8807786a78624135c5a49634eb2d9c3358a64cbf6f30',
  ],
  '0012-drafts': [
    '4e403206a07797f97e27e552c8a44257a868fd7a3ef0f6c7f756cd2d6174860e',
    'e257aaf445b130614aa638c9647c87a2a9b5f9d6312de7547854396cac326cf4',
  ],
  '0013-assets-of-imports': [
    'f178531994e3453ae4dcb116c7c2eaa68d3e0db5a5eefe3b23814757d1a21183',
    '361edb3902f6f0312dd5192fc7b6442bb90958383b2b574382094718e4e7c93d',
  ],
  '0014-search-by-ids': [
    'ecb0ffa4d60d200e73cea1226ce7f6676bbd551d8eb7bcbff0f6c0549d3dd620',
    'ecb0ffa4d60d200e73cea1226ce7f6676bbd551d8eb7bcbff0f6c0549d3dd620',
  ],
  '0015-import-numbers': [
    '8f8bc5c7745f51523ea43de1e469b99be592975eb245294c462a219c2a4c3ca2',
    '69ead1822be54ff1e3abcec3bb9a256a310bfa73b42019d84244928efb495cc3',
  ],
  '0016-address-order': [
    'ab471521caeeaa46880cd342f3ac0c6f944e454caa66636498daeab4b330aedb',
    'ab471521caeeaa46880cd342f3ac0c6f944e454caa66636498daeab4b330aedb',
  ],
  '0017-list-indexes': [
    '8fdc6735cd8d649434cd158faa18c224d4098d1266c01a9e9cf1d1606fbeff04',
    '8fdc6735cd8d649434cd158faa18c224d4098d1266c01a9e9cf1d1606fbeff04',
  ],
  '0018-search-table': [
    '372b231020c63c8011cbdb7a24f8d098b94428e728783d60e6dd715bb39b9762',
    '9cedcab1a2a9f22dfa327fd42f164a0903a13aec66debae0edfc8bcc39f58c8e',
  ],
  '0019-source-counters': [
    '2c26523b3f613df660d2da9ed435436d9e26628f7ce78041ece1fb4a40d7dd8c',
    '7568388f234971235868bed291a3125a6a9337ae532ea8dff3e512a313d83a16',
  ],
  '0020-status-in-indexes': [
    'c4774cd6cd6100fa610261aead5fd3648dcd8d376e60d07d3cba4b49a5d05b1a',
    'c4774cd6cd6100fa610261aead5fd3648dcd8d376e60d07d3cba4b49a5d05b1a',
  ],
};

/** Tables that later migrations drop. */
const DROPPED = ['import_status_changes', 'import_finding_snapshots', 'import_coverage'];

/** Tables that migrations fill anew. */
const COUNTED = ['counters', 'counter_deltas'];

type Row = Record<string, unknown>;

async function tablesOf(db: Database): Promise<string[]> {
  const { rows } = await (
    engine() === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`
  ).execute(db.read);
  return rows.map(({ name }) => name).sort();
}

/** @returns the rows of each table but those of the search index, sorted */
async function contentsOf(db: Database): Promise<Record<string, Row[]>> {
  const contents: Record<string, Row[]> = {};
  for (const table of await tablesOf(db)) {
    if (table.startsWith('vulnerability_search')) continue;
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(db.read);
    const keyed = rows.map((row) => [JSON.stringify(row), row] as const);
    contents[table] = keyed.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  }
  return contents;
}

/** Fills an empty database with the rows that were recorded when a migration was the last one. */
async function restore(db: Database, last: string): Promise<void> {
  const dialect = dialects[engine()];
  await db.write(async (tx) => {
    await sql`create table migrations (name text primary key, checksum text not null)`.execute(tx);
    for (const migration of migrations) {
      for (const statement of migration.statements(dialect)) await sql.raw(statement).execute(tx);
      const { name } = migration;
      await sql`insert into migrations values (${name}, ${checksumOf(migration, engine())})`.execute(tx);
      if (name === last) break;
    }
    const recorded = gunzipSync(readFileSync(join(FIXTURES, `${last}.ndjson.gz`)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line, reviveBytes) as [table: string, row: Row]);
    // Migrations insert some rows themselves.
    for (const table of new Set(recorded.map(([name]) => name).reverse()))
      await sql`delete from ${sql.table(table)}`.execute(tx);
    for (const [table, row] of recorded)
      await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
        values (${sql.join(Object.values(row))})`.execute(tx);
  });
}

function reviveBytes(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('base64' in value)) return value;
  return Buffer.from(String(value.base64), 'base64');
}

describe('Migrations', () => {
  it('are applied once', async () => {
    const db = await open();
    const first = await db.migrate();
    expect(first[0]).toBe('0001-initial');
    expect(await db.migrate()).toEqual([]);
    expect(await (await open()).migrate()).toEqual([]);
    await db.check(Date.now());
  });

  it('are applied by one of several instances that start together', async () => {
    const databases = await Promise.all([open(), open(), open()]);
    const applied = await Promise.all(databases.map((db) => db.migrate()));
    expect(applied.filter((names) => names.length > 0).length).toBe(1);
    for (const db of databases) await db.check(Date.now());
  });

  it('are reported as missing in a new database', async () => {
    const db = await open();
    await expect(db.check(Date.now())).rejects.toThrow();
    await db.migrate();
    await db.write((tx) => sql`delete from migrations`.execute(tx));
    await expect(db.check(Date.now())).rejects.toBeInstanceOf(StorageError);
  });

  it.each(migrations)('$name is what a release contained', (migration) => {
    expect([checksumOf(migration, 'sqlite'), checksumOf(migration, 'postgres')]).toEqual(
      RELEASED[migration.name],
    );
  });

  it.each([
    [
      'a newer version',
      "insert into migrations (name, checksum) values ('9999-later', '')",
      /9999-later, which this version does not know\. Run a newer version/,
    ],
    [
      'another build',
      "update migrations set checksum = 'abc' where name = '0001-initial'",
      /another build of Assay: its migration 0001-initial has a different checksum/,
    ],
    ['a version before 0.1.0', 'alter table migrations drop column checksum', /before 0\.1\.0/],
    ['an incomplete restore', 'delete from migrations', /list of migrations is empty/],
    ['another program', 'drop table migrations', /has tables that Assay did not create, such as/],
    [
      'another program with migrations',
      'alter table migrations rename column name to filename',
      /has tables that Assay did not create/,
    ],
  ])('reject a database of %s, and change nothing', async (_what, change, message) => {
    const db = await open();
    await db.migrate();
    await db.write((tx) => sql.raw(change).execute(tx));
    const before = await contentsOf(db);
    const failure = await db.migrate().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(IncompatibleDatabase);
    expect((failure as Error).message).toMatch(message);
    expect(await contentsOf(db)).toEqual(before);
  });

  it('reject a database with one table of another program, and create none', async () => {
    const db = await open();
    await db.write((tx) => sql`create table invoices (id integer)`.execute(tx));
    await expect(db.migrate()).rejects.toThrow(/did not create, such as "invoices"/);
    expect(await tablesOf(db)).toEqual(['invoices']);
  });

  it.each(readdirSync(FIXTURES).map((file) => file.replace('.ndjson.gz', '')))(
    'keep the rows of a database whose last one was %s',
    async (last) => {
      const db = await open();
      await restore(db, last);
      const before = await contentsOf(db);
      const later = migrations.map(({ name }) => name).filter((name) => name > last);
      expect(await db.migrate()).toEqual(later);
      // A connection remembers the columns of the statements that it has run.
      const after = await contentsOf(await open());
      for (const [table, rows] of Object.entries(before)) {
        if (table === 'migrations' || DROPPED.includes(table) || COUNTED.includes(table)) continue;
        // A migration can drop columns.
        const [first = {}] = after[table] ?? [];
        const expectedRows = rows.map((row) => ({
          ...Object.fromEntries(Object.entries(row).filter(([name]) => name in first)),
          // Derived from other columns, and not always in the same form.
          ...(table === 'vulnerabilities'
            ? searchColumns(row as Row & Parameters<typeof searchColumns>[0])
            : {}),
        }));
        expect({ table, rows: after[table] }).toEqual({
          table,
          rows: expectedRows.map((row) => expect.objectContaining(row)),
        });
      }
      for (const { id } of before['organizations'] as { id: number }[]) {
        const { counters, rows } = await readAndRecount(db, id, Date.now());
        expect(counters).toEqual(rows);
      }
      await db.check(Date.now());
    },
  );

  it('count vulnerabilities anew, by source and by day', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const day = 86_400_000;
    const now = Date.now();
    await db.write(async (tx) => {
      await sql`update vulnerabilities set source = case id % 3 when 0 then 'zap' when 1 then '3:zap:\u{1f600}' else '' end,
        created_at = ${now} - (id % 130) * ${day}, closed_at = case when status_id >= 5 then ${now} - (id % 7) * ${day} end,
        retest_status = case id % 5 when 0 then 'requested' end`.execute(tx);
      await sql`insert into counter_deltas (kind, subject, bucket, amount)
        select 'organization', id, '1:3', 5 from organizations`.execute(tx);
    });
    await db.migrate();
    const { rows: organizations } = await sql<{ id: number }>`select id from organizations`.execute(db.read);
    let counted = 0;
    for (const { id } of organizations) {
      const { counters, rows } = await readAndRecount(db, id, now);
      expect(counters).toEqual(rows);
      counted += Object.keys(rows).length;
    }
    expect(counted).toBeGreaterThan(20);
  });

  it('fold the case of names and searched texts, and keep both of two tags that now have one name', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const [first] = (await sql<{ id: number }>`select min(id) as id from organizations`.execute(db.read))
      .rows;
    const organization = first?.id;
    const name = (text: string) => text.normalize('NFC').toLowerCase();
    const tags = ['Straße', 'STRASSE', 'ΔΟΣ', 'ʼN', 'ŉ', 'plain', 'Strasse (1001)'];
    await db.write(async (tx) => {
      for (const [index, tag] of tags.entries())
        await sql`insert into vulnerability_tags (id, organization_id, name, normalized_name)
          values (${1_001 + index}, ${organization}, ${tag}, ${name(tag)})`.execute(tx);
      await sql`update vulnerabilities set search_title = ${name('ΔΟΣ')}, search_description = ${name('Große \uAB70')}
        where id = (select min(id) from vulnerabilities)`.execute(tx);
      await sql`update assessments set search_name = ${name('Maß')} where id = (select min(id) from assessments)`.execute(
        tx,
      );
    });
    await db.migrate();
    const { rows } = await sql<{ name: string; normalized_name: string }>`
      select name, normalized_name from vulnerability_tags where id > 1000 order by id`.execute(db.read);
    const suffix = /(?<= \(\d+)-[\da-f]{8}(?=\)$)/;
    expect(
      rows.map((row) => [row.name.replace(suffix, '-…'), row.normalized_name.replace(suffix, '-…')]),
    ).toEqual([
      ['Straße (1001-…)', 'strasse (1001-…)'],
      ['STRASSE', 'strasse'],
      ['ΔΟΣ', 'δοσ'],
      ['ʼN', 'ʼn'],
      ['ŉ (1005-…)', 'ʼn (1005-…)'],
      ['plain', 'plain'],
      ['Strasse (1001)', 'strasse (1001)'],
    ]);
    for (const row of rows) expect(row.normalized_name).toBe(foldCase(row.name));
    const texts = await sql<{ title: string; description: string; name: string }>`
      select search_title as title, search_description as description, search_name as name
      from vulnerabilities, assessments
      where vulnerabilities.id = (select min(id) from vulnerabilities)
        and assessments.id = (select min(id) from assessments)`.execute(db.read);
    expect(texts.rows).toEqual([{ title: 'δοσ\ncwe 89', description: 'grosse \u13A0', name: 'mass' }]);
  });

  it('index the words of vulnerabilities, and know whose the queued ones are', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const imported = await db.read
      .selectFrom('vulnerabilities')
      .select(['id', 'organization_id', 'import_id'])
      .where('import_id', 'is not', null)
      .orderBy('id')
      .execute();
    const [first, last] = [imported[0]?.id ?? 0, imported.at(-1)?.id ?? 0];
    await db.write(async (tx) => {
      // Nothing is left of the second range. The first vulnerability of the first one was deleted.
      await sql`delete from search_index_queue`.execute(tx);
      await sql`insert into search_index_queue values (${first - 1}, ${last}), (${last + 1}, ${last + 9})`.execute(
        tx,
      );
      await sql`update vulnerabilities set import_id = null, search_description = 'needle' where id < ${first}`.execute(
        tx,
      );
      await sql`delete from vulnerabilities where id = ${first - 1}`.execute(tx);
    });
    await db.migrate();
    const migrated = await open();
    expect(await migrated.read.selectFrom('search_index_queue').selectAll().execute()).toEqual([
      {
        import_id: imported[0]?.import_id,
        first_id: first - 1,
        last_id: last,
        organization_id: imported[0]?.organization_id,
      },
    ]);
    while ((await migrated.write((tx) => indexPending(tx, 5))).queued > 0);
    const { rows } = await sql<{ id: number; title: string }>`
      select id, search_title as title from vulnerabilities order by id`.execute(migrated.read);
    expect(rows.length).toBeGreaterThan(imported.length);
    for (const { id, title } of rows)
      expect(await selectIds(migrated.read, selectIdsContaining(migrated, title, null))).toContain(id);
    const needles = await selectIds(migrated.read, selectIdsContaining(migrated, 'needle', null));
    expect(needles.length).toBe(rows.filter(({ id }) => id < first).length);
  });

  it('mark what accounts of staff made, and who entered hours', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const count = async (table: string, condition: string) =>
      (
        await sql<{
          count: number;
        }>`select cast(count(*) as bigint) as count from ${sql.raw(`${table} where ${condition}`)}`.execute(
          db.read,
        )
      ).rows[0]?.count ?? 0;
    await db.migrate();
    for (const [table, mark, author] of [
      ['vulnerabilities', 'reported_by_staff', 'created_by'],
      ['attachments', 'by_staff', 'user_id'],
      ['comments', 'by_staff', 'user_id'],
      ['imports', 'by_staff', 'created_by'],
      ['testing_sessions', 'by_staff', 'tester_id'],
    ] as const) {
      const isStaffs = `coalesce((select staff from users where users.id = ${table}.${author}), 0)`;
      expect([table, await count(table, `${mark} <> ${isStaffs}`)]).toEqual([table, 0]);
    }
    expect(await count('vulnerabilities', 'reported_by_staff = 1')).toBeGreaterThan(0);
    expect(await count('testing_sessions', 'entered_by is null')).toBe(0);
    expect(await count('testing_sessions', '1 = 1')).toBeGreaterThan(0);
  });

  it('know which import listed the assets that it created', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const made = sql`select listing.asset_id from listing_assets as listing
      join imports on imports.assessment_id = listing.assessment_id
      where imports.undone is null and listing.scope_rules = '[]'`;
    const [first, second] = (
      await sql<{ asset_id: number; id: number; assessment_id: number }>`
        select listing.asset_id, min(imports.id) as id, min(imports.assessment_id) as assessment_id
        from listing_assets as listing
        join imports on imports.assessment_id = listing.assessment_id
        where imports.undone is null and listing.scope_rules = '[]' and listing.asset_id in (${made})
        group by listing.asset_id order by listing.asset_id limit 2`.execute(db.read)
    ).rows;
    expect(second).toBeDefined();
    await db.write(async (tx) => {
      await sql`update assets set import_id = null`.execute(tx);
      await sql`update assets set import_id = ${first?.id} where id in (${first?.asset_id}, ${second?.asset_id})`.execute(
        tx,
      );
      await sql`update listing_assets set scope_rules = '["by day"]' where asset_id = ${second?.asset_id}`.execute(
        tx,
      );
    });
    await db.migrate();
    const { rows } = await sql<Row>`select asset_id, assessment_id, import_id from listing_assets
      where import_id is not null`.execute(db.read);
    expect(rows).toEqual([
      { asset_id: first?.asset_id, assessment_id: first?.assessment_id, import_id: first?.id },
    ]);
  });

  it('keep the access that everyone has, and know who created assessments', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    const rowsOf = async (columns: string) =>
      (
        await sql<Row>`select ${sql.raw(columns)} from assessment_access order by user_id, assessment_id`.execute(
          db.read,
        )
      ).rows;
    const before = await rowsOf('organization_id, assessment_id, user_id');
    const [mapped, unmapped] = before;
    await db.write(async (tx) => {
      const run = (text: string) => sql.raw(text).execute(tx);
      await run(`delete from identity_provider_groups`);
      await run(`delete from identities`);
      await run(`insert into identities (organization_id, issuer, subject, user_id, created_at)
        values (${String(mapped?.organization_id)}, 'https://idp.example', 'ada', ${String(mapped?.user_id)}, 1)`);
      await run(`delete from identity_providers`);
      await run(`insert into identity_providers (organization_id, issuer, client_id, groups_claim, sso_only, created_at)
        values (${String(mapped?.organization_id)}, 'https://idp.example', 'assay', 'groups', 0, 1)`);
      await run(`insert into identity_provider_groups (organization_id, group_name, assessment_id)
        values (${String(mapped?.organization_id)}, 'web', ${String(mapped?.assessment_id)})`);
      await run(`insert into audit_events (id, at, action, object_type, object_id, organization_id, actor_kind, user_id)
        select 1000000, 1, 'assessment.create', 'assessment', uid, organization_id, 'user', ${String(unmapped?.user_id)}
        from assessments where id = ${String(unmapped?.assessment_id)}`);
    });
    await db.migrate();
    expect(await rowsOf('organization_id, assessment_id, user_id')).toEqual(before);
    expect(await rowsOf('role, by_name, by_provider')).toEqual(
      before.map((row) => ({
        role: 'assessment_member',
        by_name: row === mapped ? 0 : 1,
        by_provider: row === mapped ? 1 : 0,
      })),
    );
    const { rows } = await sql<Row>`select created_by from assessments
      where id = ${unmapped?.assessment_id}`.execute(db.read);
    expect(rows).toEqual([{ created_by: unmapped?.user_id }]);
  });

  it('carry over what imports saw and covered, so that the state follows from it', async () => {
    const db = await open();
    await restore(db, '0001-initial');
    await db.write(async (tx) => {
      const run = (text: string) => sql.raw(text).execute(tx);
      await run(`insert into imports (id, organization_id, assessment_id, format, filename, size, sha256, options,
          started_by_caller, report_at, created_at, undone, state)
        select id + 100, organization_id, assessment_id, format, filename, size, sha256, options, started_by_caller, report_at,
          created_at, case when id = 2 then '{}' end, state from imports where organization_id = 1`);
      const [finding] = (
        await sql<{ id: number }>`select min(vulnerability_id) as id from scanner_findings`.execute(tx)
      ).rows;
      const findingClause = (n: number) => `vulnerability_id = ${(finding?.id ?? 0) + n}`;
      const vulnerability = (n: number) => `id = ${(finding?.id ?? 0) + n}`;
      // Gone and set to Fixed by an import whose scan scope a later import replaced.
      await run(
        `update scanner_findings set gone_at = 1795168801500, gone_import_id = 3 where ${findingClause(0)}`,
      );
      await run(
        `update vulnerabilities set status_id = 5, closed_at = 1795168801500 where ${vulnerability(0)}`,
      );
      await run(`insert into import_status_changes
        select 3, id, organization_id, 1, 5, 1, null, 2 from vulnerabilities where ${vulnerability(0)}`);
      // Reopened by the last import, after a fix whose import is unknown.
      await run(`update vulnerabilities set status_id = 2 where ${vulnerability(1)}`);
      await run(`insert into import_status_changes
        select 101, id, organization_id, 5, 2, 1, 1, 2 from vulnerabilities where ${vulnerability(1)}`);
      await run(`update scanner_findings set last_import_id = 101, last_seen_at = last_seen_at + 5000,
        previous_import_id = 3, previous_seen_at = last_seen_at + 2000 where ${findingClause(1)}`);
      // Last seen by an undone import, which earlier versions left there.
      await run(
        `update scanner_findings set last_import_id = 102, last_seen_at = last_seen_at + 5000 where ${findingClause(2)}`,
      );
    });
    await db.migrate();
    const migrated = await open();
    const state = async () => {
      const {
        vulnerabilities,
        scanner_findings,
        vulnerability_assets,
        vulnerability_taggings,
        timeline_entries,
      } = await contentsOf(migrated);
      return {
        vulnerabilities,
        scanner_findings,
        vulnerability_assets,
        vulnerability_taggings,
        timeline_entries,
      };
    };
    const before = await state();
    const rows = await db.read
      .selectFrom('scanner_findings')
      .select(['vulnerability_id', 'organization_id', 'assessment_id'])
      .execute();
    expect(rows).toHaveLength(7);
    for (const { vulnerability_id: id, organization_id: organizationId, assessment_id: assessmentId } of rows)
      await db.write((tx) =>
        reconcileFindings(
          tx,
          {
            organizationId,
            assessmentId,
            importId: 3,
            by: { actor: operatorCaller('a test'), now: 1 },
            sums: new DeltaAccumulator(),
          },
          [id],
        ),
      );
    expect(await state()).toEqual(before);
    const detections = await db.read
      .selectFrom('detections')
      .select(['vulnerability_id', 'import_id'])
      .orderBy('vulnerability_id')
      .orderBy('import_id')
      .execute();
    const first = Math.min(...rows.map((row) => row.vulnerability_id));
    const importsOf = (n: number) =>
      detections.flatMap((row) => (row.vulnerability_id === first + n ? [row.import_id] : []));
    expect([importsOf(1), importsOf(2)]).toEqual([[1, 3, 101], [1]]);
  });

  it.runIf(engine() === 'postgres')(
    'create the columns on PostgreSQL that they create on SQLite, of which schema.ts has the types',
    async () => {
      const db = await open();
      await db.migrate();
      const { rows } = await sql<Row>`select table_name as "table", column_name as name,
          case data_type when 'bigint' then 'INTEGER' when 'double precision' then 'REAL' when 'text' then 'TEXT'
            when 'bytea' then 'BLOB' else data_type end as type,
          (is_nullable = 'YES')::int as nullable, (column_default is not null or is_identity = 'YES')::int as optional,
          (is_generated = 'ALWAYS')::int as generated
        from information_schema.columns where table_schema = current_schema() and table_name not in ('migrations', 'vulnerability_search')
        order by table_name collate "C", ordinal_position`.execute(db.read);
      expect(rows.length).toBeGreaterThan(400);
      const onSqlite = (await readCatalog()).map(({ sql: _statement, ...column }) => column);
      expect(rows.map((row) => ({ ...row }))).toEqual(onSqlite.map((column) => ({ ...column })));
    },
  );

  it.runIf(engine() === 'sqlite')('fold the case of tags in linear time', () => {
    const statements = caseFolding.statements(dialects.sqlite).filter((text) => text.includes('asset_tags'));
    const fold = (names: string) => {
      const memory = new DatabaseSync(':memory:');
      memory.exec(`create table asset_tags (id integer primary key, organization_id integer, name text,
        normalized_name text, version integer, unique (organization_id, normalized_name))`);
      memory.exec(`insert into asset_tags select key, 1, value, value, 1 from json_each('${names}')`);
      for (const statement of statements) memory.exec(statement);
      memory.close();
    };
    const namesOf = (length: number) =>
      JSON.stringify(Array.from({ length: length / 10 }, (_, index) => `straße ${index}`));
    expect(isLinear(fold, namesOf, 5_000)).toBe(true);
  });

  describe.runIf(engine() === 'postgres')('beside an instance that locks the tables', () => {
    let otherClient: pg.Client;
    beforeEach(async () => {
      await (await open()).migrate();
      otherClient = new pg.Client({ connectionString: testDatabase.databaseUrl });
      await otherClient.connect();
      await otherClient.query('begin');
      await otherClient.query('lock table migrations in access exclusive mode');
    });
    afterEach(() => otherClient.end());

    it('wait longer than a request may', async () => {
      const hasty = await open(100);
      const applied = hasty.migrate();
      // Longer than the timeouts of the engine and the driver.
      await otherClient.query('select pg_sleep(2.5)');
      await otherClient.query('commit');
      expect(await applied).toEqual([]);
    });

    it('are rejected as unavailable when the connection is lost', async () => {
      const failure = (await open()).migrate().catch((error: unknown) => error);
      for (let ended = 0; ended === 0;) {
        // A transaction caches its first view of the activity until it is cleared.
        await otherClient.query('select pg_stat_clear_snapshot()');
        const { rows } = await otherClient.query(
          `select pg_terminate_backend(pid, 10000) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        ended = rows.length;
      }
      expect(await failure).toBeInstanceOf(StorageError);
    });
  });
});
