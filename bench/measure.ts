import type { Engine } from '../src/db/database.ts';
import type { LoadProcess, Server } from './processes.ts';
import type { Dataset, WorkloadName } from './workloads.ts';

/** How often each side of a comparison is measured. */
export const ROUNDS = 3;
/** Enough connections to saturate a server. */
export const CONNECTIONS = 64;

/** One line of the report. */
export interface BenchmarkResult {
  engine: Engine;
  workload: string;
  requestsPerSecond?: number;
  p50?: number;
  p99?: number;
  peakMemory?: number;
  ratio: number;
  target: string;
  holds: boolean;
}

/** The servers on one database, and the process that generates the load. */
export interface Bench {
  engine: Engine;
  assay: Server;
  bare: Server;
  load: LoadProcess;
  dataset: Dataset;
  token: string | readonly string[];
}

export type Measurement = Awaited<ReturnType<LoadProcess['run']>>;

/** The number of requests sent per engine, organization and workload, so that none is sent twice. */
const sent = new Map<string, number>();

/** Sends requests of a workload to a server. @throws Error if one of them fails */
export async function measure(
  bench: Pick<Bench, 'engine' | 'dataset' | 'token' | 'load'>,
  server: Server,
  workload: WorkloadName,
  connections: number,
  requests: number,
): Promise<Measurement> {
  const counter = `${bench.engine} ${bench.dataset.organization} ${workload}`;
  const from = sent.get(counter) ?? 0;
  sent.set(counter, from + requests);
  const { dataset, token, load } = bench;
  const result = await load.run({ port: server.port, workload, dataset, token, connections, requests, from });
  const failed = Object.entries(result.statuses).filter(([status]) => !status.startsWith('2'));
  if (failed.length > 0) throw new Error(`${workload} on ${bench.engine} got ${JSON.stringify(failed)}.`);
  return result;
}

/** @returns the median of each figure */
export function summary(list: Measurement[]): { requestsPerSecond: number; p50: number; p99: number } {
  return {
    requestsPerSecond: median(list.map((result) => result.requestsPerSecond)),
    p50: median(list.map((result) => result.p50)),
    p99: median(list.map((result) => result.p99)),
  };
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
