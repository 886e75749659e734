import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Database, Engine } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import { startPostgres } from '../test/harness/postgres.ts';
import { fillLists, issueTokens, LIST_SIZES, type Reader } from './lists-data.ts';

const ISSUER = 'http://127.0.0.1:8080';
/** PostgreSQL's settings for a million vulnerabilities (docs/postgresql.md). */
export const POSTGRES_FLAGS: readonly string[] = [
  'shared_buffers=1GB',
  'effective_cache_size=2GB',
  'work_mem=8MB',
  'random_page_cost=1.1',
].flatMap((setting) => ['-c', setting]);

/** The ids of the largest organization that filters name. */
export interface ListIds {
  user: number;
  tags: number[];
  group: number;
  imports: number[];
  assets: string[];
  vulnerability: number;
}

export interface ListsStore {
  dataDirectory: string;
  databaseUrl: string | undefined;
  tokens: Record<Reader, string>;
  ids: ListIds;
  stop(): Promise<void>;
}

/** Opens the data of the lists in the folder `BENCH_DATA`, where they are filled once; without it, in a temporary one. */
export async function openListsStore(engine: Engine): Promise<ListsStore> {
  const persistent = process.env['BENCH_DATA'];
  const parent = persistent ?? mkdtempSync(join(tmpdir(), 'assay-bench-'));
  // As root, PostgreSQL runs as another user.
  if (persistent === undefined) chmodSync(parent, 0o755);
  const directory = join(parent, engine);
  mkdirSync(directory, { recursive: true });
  const cluster = engine === 'postgres' ? await startCluster(join(directory, 'cluster')) : undefined;
  const databaseUrl = cluster?.url('postgres');
  const db = await openDatabase({ dataDirectory: directory, databaseUrl, timeout: 1_200_000 });
  const migrated = await db.migrate();
  if (migrated.includes('0001-initial')) await fillLists(db, LIST_SIZES);
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory: directory, createsMasterKey: true },
    { current: () => ISSUER, accepts: (name) => name === ISSUER },
  );
  const tokens = await issueTokens(db, keys);
  const ids = await readIds(db);
  await db.close();
  if (databaseUrl !== undefined) await vacuum(databaseUrl);
  return {
    ids,
    dataDirectory: directory,
    databaseUrl,
    tokens,
    async stop() {
      await cluster?.stop();
      if (persistent === undefined) rmSync(parent, { recursive: true, force: true });
    },
  };
}

const startCluster = (directory: string) => startPostgres(POSTGRES_FLAGS, directory, true);

async function readIds({ read }: Database): Promise<ListIds> {
  const { id } = await read
    .selectFrom('organizations')
    .select('id')
    .where('uid', '=', 'large')
    .executeTakeFirstOrThrow();
  const idsOf = async (
    table: 'users' | 'vulnerability_tags' | 'assessment_groups' | 'imports' | 'vulnerabilities',
  ) =>
    (
      await read
        .selectFrom(table)
        .select('id')
        .where('organization_id', '=', id)
        .orderBy('id')
        .limit(100)
        .execute()
    ).map((row) => row.id);
  const [users, tags, groups, imports, vulnerabilities] = await Promise.all(
    (['users', 'vulnerability_tags', 'assessment_groups', 'imports', 'vulnerabilities'] as const).map(idsOf),
  );
  const assets = await read
    .selectFrom('assets')
    .select('uid')
    .where('organization_id', '=', id)
    .orderBy('id')
    .limit(10)
    .execute();
  return {
    user: users?.[0] ?? 0,
    tags: tags ?? [],
    group: groups?.[0] ?? 0,
    imports: imports ?? [],
    assets: assets.map(({ uid }) => uid),
    vulnerability: vulnerabilities?.[0] ?? 0,
  };
}

/** Sets what tells index-only scans which pages they need not read, as autovacuum does in time. */
export async function vacuum(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}
