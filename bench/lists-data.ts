import { type RawBuilder, sql } from 'kysely';
import { cliChangeContext } from '../src/auth/callers.ts';
import type { Keys } from '../src/auth/keys.ts';
import type { Database, Engine, Transaction } from '../src/db/database.ts';
import { issueToken } from '../src/domain/tokens/tokens.ts';
import { createOrganization } from '../src/domain/users/staff-organizations.ts';
import { createUser } from '../src/domain/users/users.ts';
import { numbersOf, recountVulnerabilities } from './large-dataset.ts';
import { FIRST_REPORT, type OrganizationRows, organizationStatements } from './lists-rows.ts';
import { progress } from './measure.ts';

/** Vulnerabilities of each organization: with `tiny` ones, staff's lists span 1,000. */
export interface ListSizes {
  large: number;
  others: { count: number; vulnerabilities: number };
  small: number;
  tiny: { count: number; vulnerabilities: number };
}

export const LIST_SIZES: ListSizes = {
  large: Number(process.env['BENCH_VULNERABILITIES'] ?? 1_000_000),
  others: { count: 20, vulnerabilities: 5_000 },
  small: 1_000,
  tiny: { count: 978, vulnerabilities: 10 },
};
const BATCH_SIZE = 50_000;
const ACT = cliChangeContext(FIRST_REPORT);

/** Filled without their indexes, which are made at the end. */
const TABLES = [
  'vulnerabilities',
  'vulnerability_taggings',
  'vulnerability_assets',
  'vulnerability_search',
  'scanner_findings',
  'assets',
  'ports',
  'audit_events',
];

/** Fills an empty database with organizations of these sizes, an event for each vulnerability, ports, and readers. */
export async function fillLists(db: Database, sizes: ListSizes): Promise<void> {
  const tiny = Array.from({ length: sizes.tiny.count }, (_, index) => `tiny${index}`);
  const others = Array.from({ length: sizes.others.count }, (_, index) => `other${index}`);
  await fillOrganizations(db, [
    ['large', sizes.large],
    ...others.map((uid) => [uid, sizes.others.vulnerabilities] as const),
    ['small', sizes.small],
    ...tiny.map((uid) => [uid, sizes.tiny.vulnerabilities] as const),
  ]);
  await createReaders(db, others);
}

/**
 * Fills an empty database with organizations and as many vulnerabilities in each as are named. Writes by SQL, without
 * indexes first.
 */
export async function fillOrganizations(
  db: Database,
  organizations: readonly (readonly [uid: string, vulnerabilities: number])[],
): Promise<void> {
  const { engine } = db;
  const startedAt = performance.now();
  const restore = await dropIndexes(db);
  for (const [uid, vulnerabilities] of organizations)
    await fillOrganization(db, engine, uid, vulnerabilities);
  progress(`${engine}: rows after ${seconds(startedAt)}`);
  for (const statement of restore) {
    await db.write((tx) => sql.raw(statement).execute(tx));
    progress(`${engine}: ${statement.replace(/\s+/g, ' ').slice(0, 70)} after ${seconds(startedAt)}`);
  }
  await db.write(countAll);
  await db.write((tx) =>
    sql`update import_numbers set last_id = (select max(id) from imports) where dry_run = 0`.execute(tx),
  );
  progress(`${engine}: filled after ${seconds(startedAt)}`);
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(0)} s`;

/** @returns the statements that create them again, and fill the search index */
async function dropIndexes(db: Database): Promise<string[]> {
  const isSqlite = db.engine === 'sqlite';
  const tables = sql.join(TABLES.map((table) => sql.lit(table)));
  const { rows } = await (
    isSqlite
      ? sql<{
          kind: string;
          name: string;
          text: string;
        }>`select type as kind, name, sql as text from sqlite_schema
          where type in ('index', 'trigger') and tbl_name in (${tables}) and sql is not null`
      : sql<{
          kind: string;
          name: string;
          text: string;
        }>`select 'index' as kind, indexname as name, indexdef as text
          from pg_indexes where schemaname = current_schema() and tablename in (${tables})
            and not exists (select 1 from pg_constraint where conname = indexname)`
  ).execute(db.read);
  await db.write(async (tx) => {
    for (const { kind, name } of rows) await sql`drop ${sql.raw(kind)} ${sql.ref(name)}`.execute(tx);
  });
  const index = rows.filter(({ kind }) => kind === 'index').map(({ text }) => text);
  const triggers = rows.filter(({ kind }) => kind === 'trigger').map(({ text }) => text);
  const words = isSqlite
    ? [
        `insert into vulnerability_search (rowid, mark, search_title, search_description)
          select id, char(983040 + organization_id % 65000, 983040 + organization_id / 65000 % 65000, 983040), search_title,
            search_description from vulnerabilities order by id`,
      ]
    : [
        `insert into vulnerability_search (id, organization_id, search_title, search_description)
          select id, organization_id, search_title, search_description from vulnerabilities`,
      ];
  // SQLite plans without statistics, as an installation has none.
  return [...words, ...index, ...triggers, ...(isSqlite ? [] : ['analyze'])];
}

async function nextId(db: Database, table: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`select coalesce(max(id), 0) + 1 as id
    from ${sql.table(table)}`.execute(db.read);
  return rows[0]?.id ?? 1;
}

async function fillOrganization(db: Database, engine: Engine, uid: string, vulnerabilities: number) {
  const numbers = numbersOf(engine);
  const { id } = await db.write((tx) => createOrganization(tx, ACT, { uid, name: `Organization ${uid}` }));
  const filled: OrganizationRows = {
    uid,
    id,
    vulnerabilities,
    first: {
      vulnerability: await nextId(db, 'vulnerabilities'),
      asset: await nextId(db, 'assets'),
      assessment: await nextId(db, 'assessments'),
      tag: await nextId(db, 'vulnerability_tags'),
      user: await nextId(db, 'users'),
      import: await nextId(db, 'imports'),
    },
  };
  let batch: RawBuilder<unknown>[] = [];
  const write = async () => {
    const statements = batch;
    batch = [];
    await db.write(async (tx) => {
      // Foreign keys are not checked: each statement refers to rows of earlier ones.
      if (engine === 'postgres') await sql`set local session_replication_role = replica`.execute(tx);
      for (const statement of statements) await statement.execute(tx);
    });
  };
  for (const [count, statement] of organizationStatements(filled, engine)) {
    for (let from = 0; from < count; from += BATCH_SIZE) {
      batch.push(statement(numbers(from, Math.min(BATCH_SIZE, count - from))));
      if (count <= BATCH_SIZE) continue;
      await write();
      progress(`${engine}: ${uid}, ${from + BATCH_SIZE} of ${count} rows`);
    }
  }
  await write();
}

/** Sets the counters of all organizations as the rules would. */
async function countAll(tx: Transaction): Promise<void> {
  const insert = sql`insert into counters (kind, subject, bucket, amount)`;
  await recountVulnerabilities(tx);
  await sql`${insert} select 'vulnerability-tag', tag_id, case draft when 1 then 'draft' else 'all' end, count(*)
    from vulnerability_taggings join vulnerabilities on vulnerabilities.id = vulnerability_id group by 2, 3`.execute(
    tx,
  );
  await sql`${insert} select 'asset', asset_id,
      case when draft = 1 then 'draft' when status_id >= 5 then 'closed' else 'open' end, count(*)
    from vulnerability_assets join vulnerabilities on vulnerabilities.id = vulnerability_id group by 2, 3`.execute(
    tx,
  );
  await sql`${insert} select 'organization-ports', organization_id,
      'open:000' || case when number < 10 then '0' else '' end || cast(number as text) || '/tcp', count(*)
    from ports join assets on assets.id = ports.asset_id group by 2, 3`.execute(tx);
}

/** The accounts that read the lists. */
const READERS = {
  large: { email: 'admin@large.example', organization: 'large', admin: true },
  small: { email: 'admin@small.example', organization: 'small', admin: true },
  staff: { email: 'staff@bench.example' },
  assigned: { email: 'assigned@bench.example' },
} as const;

export type Reader = keyof typeof READERS;

async function createReaders(db: Database, assigned: readonly string[]): Promise<void> {
  for (const [reader, input] of Object.entries(READERS))
    await db.write((tx) =>
      createUser(tx, ACT, { ...input, ...(reader === 'assigned' ? { assignedTo: assigned } : {}) }),
    );
}

/** @returns a new token of each reader */
export async function issueTokens(db: Database, keys: Keys): Promise<Record<Reader, string>> {
  const tokens = await Promise.all(
    Object.entries(READERS).map(async ([reader, { email }]) => {
      const { id } = await db.read
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .executeTakeFirstOrThrow();
      const { token } = await db.write((tx) =>
        issueToken(tx, ACT, keys, { userId: id, kind: 'personal', expiresAt: null }),
      );
      return [reader, token] as const;
    }),
  );
  return Object.fromEntries(tokens) as Record<Reader, string>;
}
