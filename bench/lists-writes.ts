import type { Engine } from '../src/db/database.ts';
import { send } from './companions.ts';
import { measureLocations, measureSmallImports } from './lists-imports.ts';
import { measureRetention } from './lists-retention.ts';
import { idsOf, type ListsStore, withServer } from './lists-store.ts';
import {
  type BenchmarkResult,
  CONNECTIONS,
  measure,
  type Measurement,
  median,
  progress,
  ROUNDS,
  summary,
} from './measure.ts';
import { p99Of, repeat } from './others.ts';
import { LoadProcess } from './processes.ts';
import type { Dataset, WorkloadName } from './workloads.ts';

const LIST = '/v1/vulnerabilities';
const MIB = 1024 * 1024;

type Measure = (engine: Engine, store: ListsStore) => Promise<BenchmarkResult[]>;

const MEASUREMENTS: readonly (readonly [name: string, work: Measure])[] = [
  ['lists-rates', measureRates],
  ['lists-bulk', measureBulk],
  ['lists-csv', measureDownload],
  ['lists-locations', measureLocations],
  ['lists-small-imports', measureSmallImports],
  ['lists-retention', measureRetention],
];

/** Names that can be given on the command line. */
export const LIST_WRITE_WORKLOADS: readonly string[] = MEASUREMENTS.map(([name]) => name);

/** Measures changes in an organization of a million vulnerabilities. @param store a copy, as its data changes */
export async function measureListWrites(
  engine: Engine,
  store: ListsStore,
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const rows: BenchmarkResult[] = [];
  for (const [name, work] of MEASUREMENTS) {
    if (!isSelected(name)) continue;
    progress(`${engine}: ${name}`);
    rows.push(...(await work(engine, store)));
  }
  return rows;
}

/** Operation 28 comes last: what 18 creates in `small` has no retest yet. */
const RATES: readonly (readonly [operation: number, workload: WorkloadName])[] = [
  [5, 'op5-vulnerability'],
  [25, 'op25-comment'],
  [18, 'op18-create'],
  [28, 'op28-retest'],
];
const REQUESTS = 4_000;
const WARM_UP = REQUESTS / 4;
const RATE_TARGET = 0.9;
const ORGANIZATIONS = ['small', 'large'] as const;

/** Compares the rates of changes in the largest organization with those in one of 1,000 vulnerabilities. */
function measureRates(engine: Engine, store: ListsStore): Promise<BenchmarkResult[]> {
  return withServer(store, async (server) => {
    const load = new LoadProcess();
    const rows: BenchmarkResult[] = [];
    try {
      for (const [operation, workload] of RATES) {
        const datasets = {
          small: await datasetOf(store, 'small', workload),
          large: await datasetOf(store, 'large', workload),
        };
        const measured = { small: [] as Measurement[], large: [] as Measurement[] };
        for (let round = 0; round <= ROUNDS; round += 1)
          for (const uid of ORGANIZATIONS) {
            const bench = { engine, load, dataset: datasets[uid], token: store.tokens[uid] };
            const requests = round === 0 ? WARM_UP : REQUESTS;
            const result = await measure(bench, server, workload, CONNECTIONS, requests);
            if (round > 0) measured[uid].push(result);
          }
        const large = summary(measured.large);
        const small = summary(measured.small);
        const ratio = large.requestsPerSecond / small.requestsPerSecond;
        progress(
          `  ${operation}: ${small.requestsPerSecond.toFixed(0)}/s in small, ${large.requestsPerSecond.toFixed(0)}/s in large`,
        );
        rows.push({
          engine,
          workload: `lists-rates (${operation})`,
          ...large,
          peakMemory: server.peakMemory(),
          ratio,
          target: `>= ${RATE_TARGET} x in 1,000`,
          holds: ratio >= RATE_TARGET,
        });
      }
    } finally {
      load.stop();
    }
    return rows;
  });
}

/** @returns the ids and names that the requests of a workload use */
async function datasetOf(store: ListsStore, uid: string, workload: WorkloadName): Promise<Dataset> {
  const { vulnerabilities, tags } = await idsOf(store, uid, workload === 'op28-retest');
  return {
    organization: uid,
    assessment: `${uid}-0`,
    vulnerabilities: spread(vulnerabilities),
    vulnerabilityTags: tags,
    groups: {},
    hosts: {},
    assetTags: [],
    assets: [],
    removable: [],
    removableGroup: 0,
    client: { id: '', secret: '' },
    people: [],
  };
}

const PRIME = 7_919;

/** @returns ids from everywhere in the list, in an order without a pattern: one for each request, if there are enough */
function spread(ids: readonly number[]): number[] {
  // Steps of a prime visit each id once unless the prime divides their number.
  const length = ids.length % PRIME === 0 ? ids.length - 1 : ids.length;
  return Array.from({ length: Math.min(length, WARM_UP + ROUNDS * REQUESTS) }, (_, number) =>
    Number(ids[(number * PRIME) % length]),
  );
}

const CSV_TARGET: Readonly<Record<Engine, number>> = { sqlite: 35_000, postgres: 25_000 };
const CSV_GROWTH = 50;

/** Downloads all vulnerabilities of the largest organization. */
function measureDownload(engine: Engine, store: ListsStore): Promise<BenchmarkResult[]> {
  return withServer(store, async (server) => {
    const large = { token: store.tokens.large };
    await send(server, large, LIST);
    const before = server.memory() / MIB;
    const { lines, milliseconds } = await send(
      server,
      large,
      LIST,
      { headers: { accept: 'text/csv' } },
      false,
    );
    const growth = server.peakMemory() - before;
    const speed = (lines - 1) / (milliseconds / 1_000);
    const target = CSV_TARGET[engine];
    progress(`  ${lines - 1} rows in ${(milliseconds / 1_000).toFixed(1)} s`);
    return [
      {
        engine,
        workload: 'lists-csv (rows/s, MiB grown)',
        requestsPerSecond: speed,
        peakMemory: growth,
        ratio: speed / target,
        target: `>= ${target} rows/s and <= ${CSV_GROWTH} MiB more`,
        holds: speed >= target && growth <= CSV_GROWTH,
      },
    ];
  });
}

const BULK = 10_000;
const BULK_TARGET: Readonly<Record<Engine, number>> = { sqlite: 2_000, postgres: 3_000 };
const OTHERS_TARGET = 250;
/** Vulnerabilities that the other client changes in turn. */
const OTHERS = 1_000;

/** Changes the status and two tags of 10,000 vulnerabilities while another client changes single ones. */
function measureBulk(engine: Engine, store: ListsStore): Promise<BenchmarkResult[]> {
  return withServer(store, async (server) => {
    const large = { token: store.tokens.large };
    const { vulnerabilities } = await idsOf(store, 'large');
    const ids = vulnerabilities.slice(0, BULK);
    const times: number[] = [];
    const changeMany = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const body = { ids, set: { status_id: 2 + round, add_tags: [`bulk ${round}`, `bulk too ${round}`] } };
        times.push((await send(server, large, `${LIST}/bulk_update`, { method: 'POST', body })).milliseconds);
      }
    };
    const ended = new AbortController();
    const [waits] = await Promise.all([
      repeat(ended.signal, 0, async (number) => {
        const path = `${LIST}/${vulnerabilities[BULK + (number % OTHERS)]}`;
        const body = { status_id: 1 + (number % 9) };
        return (await send(server, large, path, { method: 'PATCH', body })).milliseconds;
      }),
      changeMany().finally(() => ended.abort()),
    ]);
    const list = times.map((time) => time.toFixed(0)).join(', ');
    progress(`  took ${list} ms; the slowest concurrent write took ${Math.max(...waits).toFixed(0)} ms`);
    const p99 = p99Of(waits);
    const time = median(times);
    const target = BULK_TARGET[engine];
    return [
      {
        engine,
        workload: 'lists-bulk',
        p50: time,
        ratio: time / target,
        target: `<= ${target} ms`,
        holds: time <= target,
      },
      {
        engine,
        workload: 'lists-bulk (others)',
        p99,
        ratio: p99 / OTHERS_TARGET,
        target: `p99 <= ${OTHERS_TARGET} ms`,
        holds: p99 <= OTHERS_TARGET,
      },
    ];
  });
}
