import pg from 'pg';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import { startPostgres } from '../test/harness/postgres.ts';
import { COMPANION_WORKLOADS, measureCompanions } from './companions.ts';
import { IMPORT_WORKLOADS, measureImports } from './imports.ts';
import { fillLarge } from './large-dataset.ts';
import { LIST_WORKLOADS, measureLists } from './lists.ts';
import {
  type Bench,
  CONNECTIONS,
  measure,
  type Measurement,
  median,
  progress,
  type BenchmarkResult,
  ROUNDS,
  summary,
} from './measure.ts';
import { LoadProcess, startAssay, startBare } from './processes.ts';
import { report } from './report.ts';
import { fillRoles, measureRoles, ROLE_WORKLOADS } from './roles.ts';
import { signIns } from './sign-in.ts';
import { freshTokens } from './tokens.ts';
import type { WorkloadName } from './workloads.ts';
import { fillDatabase } from './dataset.ts';

/** Creates a database in the cluster. @returns its URL */
async function createDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create database bench');
  await client.end();
  return url.replace(/\/postgres$/, '/bench');
}

/** Creates the data for the 14 operations. @param issuer of the tokens in it */
async function fill(databaseUrl: string | undefined, dataDirectory: string, issuer: string) {
  const db = await openDatabase({ databaseUrl, dataDirectory, timeout: 30_000 });
  await db.migrate();
  const data = await fillDatabase(db, dataDirectory, issuer);
  await db.close();
  await analyze(databaseUrl);
  return data;
}

/** Updates PostgreSQL's statistics. */
async function analyze(databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}

const ISSUER = 'http://127.0.0.1:8080';
const RESULTS = 'bench/results.json';

interface Comparison {
  workload: WorkloadName;
  connections: number;
  requests: number;
  /** The product's throughput divided by the bare handler's, or its time divided by the bare handler's. */
  ratioOf: 'throughput' | 'time';
  target: Record<Engine, number>;
}

const COMPARISONS: readonly Comparison[] = [
  {
    workload: 'op12-members',
    connections: CONNECTIONS,
    requests: 8_000,
    ratioOf: 'throughput',
    target: { sqlite: 0.7, postgres: 0.8 },
  },
  {
    workload: 'op14-ports',
    connections: CONNECTIONS,
    requests: 8_000,
    ratioOf: 'throughput',
    target: { sqlite: 0.7, postgres: 0.8 },
  },
  {
    workload: 'op5-vulnerability',
    connections: CONNECTIONS,
    requests: 4_000,
    ratioOf: 'throughput',
    target: { sqlite: 3, postgres: 0.7 },
  },
  {
    workload: 'op18-create',
    connections: CONNECTIONS,
    requests: 4_000,
    ratioOf: 'throughput',
    target: { sqlite: 2, postgres: 0.7 },
  },
  {
    workload: 'op9-tagging',
    connections: CONNECTIONS,
    requests: 4_000,
    ratioOf: 'throughput',
    target: { sqlite: 3, postgres: 0.7 },
  },
  {
    workload: 'op13-removal',
    connections: CONNECTIONS,
    requests: 4_000,
    ratioOf: 'throughput',
    target: { sqlite: 3, postgres: 0.7 },
  },
  {
    workload: 'op10-criticality',
    connections: 1,
    requests: 20,
    ratioOf: 'time',
    target: { sqlite: 1.5, postgres: 1.5 },
  },
  {
    workload: 'oauth-token',
    connections: CONNECTIONS,
    requests: 4_000,
    ratioOf: 'throughput',
    target: { sqlite: 0.7, postgres: 0.7 },
  },
];

/** Pairs of pages: the second, with 1,000 times the rows, must take hardly longer than the first. */
const SCALES: readonly [small: WorkloadName, large: WorkloadName][] = [
  ['op12-small-first', 'op12-large-first'],
  ['op12-small-last', 'op12-large-last'],
  ['op14-small-first', 'op14-large-first'],
  ['op14-small-last', 'op14-large-last'],
];
const SCALE_TARGET = 1.5;
const SCALE_REQUESTS = 2_000;

const rows: BenchmarkResult[] = [];

const ENGINES = ['sqlite', 'postgres'] as const;
const names = process.argv.slice(2);
/** The engines named on the command line; both by default. */
const engines = ENGINES.filter(
  (engine) => names.includes(engine) || !ENGINES.some((name) => names.includes(name)),
);
const workloads = names.filter((name) => !ENGINES.some((engine) => engine === name));
const isSelected = (name: string): boolean =>
  workloads.length === 0 || workloads.some((part) => name.includes(part));

async function main(): Promise<void> {
  for (const engine of engines)
    if (LIST_WORKLOADS.some(isSelected)) rows.push(...(await measureLists(engine, isSelected)));
  // Nothing else needs the data of the 14 operations.
  if (workloads.length > 0 && workloads.every((part) => LIST_WORKLOADS.some((name) => name.includes(part))))
    return report(rows, RESULTS);
  const postgres = engines.includes('postgres') ? await startPostgres() : undefined;
  try {
    for (const engine of engines) {
      const dataDirectory = mkdtempSync(join(tmpdir(), 'assay-bench-'));
      const databaseUrl =
        engine === 'postgres' ? await createDatabase(postgres?.url('postgres') ?? '') : undefined;
      const env = {
        ASSAY_RATE_LIMIT: '0',
        ...(databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl }),
      };
      progress(`${engine}: filling the database`);
      const data = await fill(databaseUrl, dataDirectory, ISSUER);
      const bench: Bench = {
        engine,
        ...data,
        assay: await startAssay(env, dataDirectory),
        bare: await startBare(env, dataDirectory),
        load: new LoadProcess(),
      };
      try {
        for (const comparison of COMPARISONS.filter(({ workload }) => isSelected(workload))) {
          await compare(bench, comparison);
        }
        for (const [small, large] of SCALES) if (isSelected(large)) await scale(bench, small, large);
        if (isSelected('fresh-tokens')) rows.push(...(await freshTokens(bench)));
        if (isSelected('sign-in')) rows.push(...(await signIns(bench)));
      } finally {
        bench.load.stop();
        await bench.bare.stop();
        await bench.assay.stop();
      }
      if (isSelected('startup')) await startup(engine, env, dataDirectory);
      if (COMPANION_WORKLOADS.some(isSelected)) await companions(engine, env, { databaseUrl, dataDirectory });
      if (ROLE_WORKLOADS.some(isSelected)) await roles(engine, env, { databaseUrl, dataDirectory });
      if (IMPORT_WORKLOADS.some(isSelected))
        rows.push(...(await measureImports({ engine, env, dataDirectory, ...data }, isSelected)));
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  } finally {
    await postgres?.stop();
  }
  report(rows, RESULTS);
}

interface DatabaseLocation {
  databaseUrl: string | undefined;
  dataDirectory: string;
}

/** Opens a database that `fill` has filled, with the keys that sign its tokens. */
async function openFilled(where: DatabaseLocation) {
  const db = await openDatabase({ ...where, timeout: 600_000 });
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory: where.dataDirectory, createsMasterKey: true },
    { current: () => ISSUER, accepts: (name) => name === ISSUER },
  );
  return { db, keys };
}

/** Adds an organization with 2,000 assessments, then reads and changes it as users who reach half of them. */
async function roles(engine: Engine, env: NodeJS.ProcessEnv, where: DatabaseLocation): Promise<void> {
  progress(`${engine}: filling the organization of roles`);
  const { db, keys } = await openFilled(where);
  const organization = await fillRoles(db, engine, keys);
  await db.close();
  await analyze(where.databaseUrl);
  const server = await startAssay(env, where.dataDirectory);
  try {
    rows.push(...(await measureRoles(engine, server, organization, isSelected)));
  } finally {
    await server.stop();
  }
}

/** Adds a million vulnerabilities to the database, then reads and changes them. */
async function companions(engine: Engine, env: NodeJS.ProcessEnv, where: DatabaseLocation): Promise<void> {
  const { db, keys } = await openFilled(where);
  const organizations = await fillLarge(db, engine, keys, progress);
  await db.close();
  await analyze(where.databaseUrl);
  const server = await startAssay(env, where.dataDirectory);
  try {
    rows.push(...(await measureCompanions(engine, server, organizations, isSelected)));
  } finally {
    await server.stop();
  }
}

/** Measures the product and the bare handler in turn, several times, and reports the medians. */
async function compare(
  bench: Bench,
  { workload, connections, requests, ratioOf, target }: Comparison,
): Promise<void> {
  progress(`${bench.engine}: ${workload}`);
  const measured = { assay: [] as Measurement[], bare: [] as Measurement[] };
  for (const server of ['assay', 'bare'] as const)
    await measure(bench, bench[server], workload, connections, Math.ceil(requests / 4));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const server of ['assay', 'bare'] as const) {
      measured[server].push(await measure(bench, bench[server], workload, connections, requests));
    }
  }
  const speed = (list: Measurement[]) => median(list.map(({ requestsPerSecond }) => requestsPerSecond));
  const assay = speed(measured.assay);
  const bare = speed(measured.bare);
  const ratio = ratioOf === 'throughput' ? assay / bare : bare / assay;
  const goal = target[bench.engine];
  rows.push(
    {
      engine: bench.engine,
      workload,
      ...summary(measured.assay),
      peakMemory: bench.assay.peakMemory(),
      ratio,
      target: ratioOf === 'throughput' ? `>= ${goal} x bare` : `<= ${goal} x bare's time`,
      holds: ratioOf === 'throughput' ? ratio >= goal : ratio <= goal,
    },
    {
      engine: bench.engine,
      workload: `${workload} (bare)`,
      ...summary(measured.bare),
      peakMemory: bench.bare.peakMemory(),
      ratio: 1,
      target: '',
      holds: true,
    },
  );
}

async function scale(bench: Bench, small: WorkloadName, large: WorkloadName): Promise<void> {
  progress(`${bench.engine}: ${large}`);
  const p50 = { small: [] as Measurement[], large: [] as Measurement[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const smallResult = await measure(bench, bench.assay, small, 1, SCALE_REQUESTS);
    const largeResult = await measure(bench, bench.assay, large, 1, SCALE_REQUESTS);
    // The first round warms up.
    if (round > 0) {
      p50.small.push(smallResult);
      p50.large.push(largeResult);
    }
  }
  const result = summary(p50.large);
  const ratio = result.p50 / summary(p50.small).p50;
  rows.push({
    engine: bench.engine,
    workload: large,
    ...result,
    ratio,
    target: `<= ${SCALE_TARGET} x p50 of the small`,
    holds: ratio <= SCALE_TARGET,
  });
}

async function startup(engine: Engine, env: NodeJS.ProcessEnv, dataDirectory: string): Promise<void> {
  progress(`${engine}: starting with existing data`);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startAssay(env, dataDirectory);
    times.push(server.startup);
    await server.stop();
  }
  const seconds = median(times) / 1000;
  rows.push({ engine, workload: 'start to ready (s)', ratio: seconds, target: '< 1 s', holds: seconds < 1 });
}

await main();
