import { execFileSync } from 'node:child_process';
import { chmodSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database, Engine } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import { startPostgres } from '../test/harness/postgres.ts';
import { fillLists, issueTokens, LIST_SIZES, type ListSizes, type Reader } from './lists-data.ts';
import { progress } from './measure.ts';
import { type Server, startAssay } from './processes.ts';

const ISSUER = 'http://127.0.0.1:8080';
/** PostgreSQL's folder in the data directory, and the database of a copy. */
const CLUSTER = 'cluster';
const COPY = 'lists_copy';
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
  /** The process of PostgreSQL that starts the others. */
  databasePid: number | undefined;
  tokens: Record<Reader, string>;
  ids: ListIds;
  stop(): Promise<void>;
}

/** What a store has. */
export interface ListsData {
  /** Its folder. */
  name: string;
  sizes: ListSizes;
  /** Flags of PostgreSQL. */
  flags: readonly string[];
}

/** Opens data of lists in the folder `BENCH_DATA`, where they are filled once; without it, in a temporary one. */
export async function openListsStore(
  engine: Engine,
  { name, sizes, flags }: ListsData = { name: engine, sizes: LIST_SIZES, flags: POSTGRES_FLAGS },
): Promise<ListsStore> {
  const persistent = process.env['BENCH_DATA'];
  const parent = persistent ?? mkdtempSync(join(tmpdir(), 'assay-bench-'));
  // As root, PostgreSQL runs as another user.
  if (persistent === undefined) chmodSync(parent, 0o755);
  const directory = join(parent, name);
  mkdirSync(directory, { recursive: true });
  const clusterDirectory = join(directory, CLUSTER);
  const cluster = engine === 'postgres' ? await startPostgres(flags, clusterDirectory, true) : undefined;
  const databaseUrl = cluster?.url('postgres');
  const db = await openDatabase({ dataDirectory: directory, databaseUrl, timeout: 1_200_000 });
  const migrated = await db.migrate();
  if (migrated.includes('0001-initial')) await fillLists(db, sizes);
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory: directory, createsMasterKey: true },
    { current: () => ISSUER, accepts: (issuer) => issuer === ISSUER },
  );
  const tokens = await issueTokens(db, keys);
  const ids = await readIds(db);
  progress(`${engine}: ${await describeSize(db, sizes)}`);
  await db.close();
  if (databaseUrl !== undefined) await vacuum(databaseUrl);
  return {
    ids,
    dataDirectory: directory,
    databaseUrl,
    databasePid:
      cluster === undefined
        ? undefined
        : Number.parseInt(readFileSync(join(clusterDirectory, 'postmaster.pid'), 'utf8'), 10),
    tokens,
    async stop() {
      await cluster?.stop();
      if (persistent === undefined) rmSync(parent, { recursive: true, force: true });
    },
  };
}

/**
 * Copies the data for workloads that change it. No server may use the data meanwhile.
 * @returns the copy, which `stop` removes
 */
export async function copyListsStore(store: ListsStore): Promise<ListsStore> {
  // Beside the data, so that a file system that can share blocks need not copy them.
  const directory = mkdtempSync(`${dirname(store.dataDirectory)}-copy-`);
  const cluster = join(store.dataDirectory, CLUSTER);
  await cp(store.dataDirectory, directory, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => source !== cluster,
  });
  const { databaseUrl } = store;
  if (databaseUrl !== undefined) {
    await runSql(addressOf(databaseUrl, 'template1'), [
      `drop database if exists ${COPY} with (force)`,
      `create database ${COPY} template postgres strategy file_copy`,
    ]);
  }
  // Writes the copy to disk now, so that this does not slow down the measured commits.
  execFileSync('sync');
  return {
    ...store,
    dataDirectory: directory,
    databaseUrl: databaseUrl && addressOf(databaseUrl, COPY),
    async stop() {
      rmSync(directory, { recursive: true, force: true });
      if (databaseUrl !== undefined)
        await runSql(addressOf(databaseUrl, 'template1'), [`drop database ${COPY} with (force)`]);
    },
  };
}

type Location = Pick<ListsStore, 'dataDirectory' | 'databaseUrl'>;

/** Starts a server on the data. */
export function startOn(
  { dataDirectory, databaseUrl }: Location,
  env: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const address = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
  return startAssay({ ASSAY_RATE_LIMIT: '0', ...address, ...env }, dataDirectory);
}

/** Runs work on a new server, which has no memory of earlier work. */
export async function withServer<Result>(
  store: Location,
  work: (server: Server) => Promise<Result>,
  env: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const server = await startOn(store, env);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Opens the data for statements, beside a server or without one. */
export const openData = ({ dataDirectory, databaseUrl }: Location): Promise<Database> =>
  openDatabase({ dataDirectory, databaseUrl, timeout: 30_000 });

/** @returns the ids of an organization's vulnerabilities that its admin can change, and of its tags */
export async function idsOf(store: Location, uid: string, canBeRetested = false) {
  const db = await openData(store);
  try {
    const id = await organizationId(db, uid);
    const vulnerabilities = await db.read
      .selectFrom('vulnerabilities')
      .select('id')
      .where('organization_id', '=', id)
      .where('draft', '=', 0)
      .$if(canBeRetested, (query) =>
        query
          .where('closed_at', 'is', null)
          .where((eb) => eb.or([eb('retest_status', 'is', null), eb('retest_status', '<>', 'requested')])),
      )
      .orderBy('id')
      .execute();
    const tags = await db.read
      .selectFrom('vulnerability_tags')
      .select('id')
      .where('organization_id', '=', id)
      .orderBy('id')
      .execute();
    return { vulnerabilities: vulnerabilities.map((row) => row.id), tags: tags.map((row) => row.id) };
  } finally {
    await db.close();
  }
}

const addressOf = (url: string, database: string) => url.replace(/\/postgres$/, `/${database}`);

async function describeSize(db: Database, { large, others, small, tiny }: ListSizes): Promise<string> {
  const size =
    db.engine === 'sqlite'
      ? sql<{
          bytes: number;
        }>`select page_count * page_size as bytes from pragma_page_count, pragma_page_size`
      : sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`;
  const { rows } = await size.execute(db.read);
  const bytes = Number(rows[0]?.bytes);
  const vulnerabilities =
    large + others.count * others.vulnerabilities + small + tiny.count * tiny.vulnerabilities;
  return `${(bytes / 1e9).toFixed(2)} GB, ${Math.round(bytes / vulnerabilities)} bytes for each vulnerability with all that belongs to it`;
}

async function organizationId({ read }: Database, uid: string): Promise<number> {
  const organizations = read.selectFrom('organizations').select('id').where('uid', '=', uid);
  return (await organizations.executeTakeFirstOrThrow()).id;
}

async function readIds(db: Database): Promise<ListIds> {
  const { read } = db;
  const id = await organizationId(db, 'large');
  const firstIdsOf = async (
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
    (['users', 'vulnerability_tags', 'assessment_groups', 'imports', 'vulnerabilities'] as const).map(
      firstIdsOf,
    ),
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
export const vacuum = (databaseUrl: string): Promise<void> => runSql(databaseUrl, ['vacuum analyze']);

async function runSql(databaseUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
