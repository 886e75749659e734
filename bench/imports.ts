import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../src/db/database.ts';
import { lastNucleiTemplate, writeNucleiReport, writeSarifReport } from './finding-reports.ts';
import {
  awaitImportEnd,
  awaitSearch,
  type ImportResponse,
  type RequestTarget,
  send,
  startImport,
} from './import-requests.ts';
import { progress, type BenchmarkResult } from './measure.ts';
import { writeNmapReport } from './nmap-report.ts';
import { measureQuietReads, measureTime, runBesideOthers } from './others.ts';
import { runCommand, startAssay } from './processes.ts';
import type { Dataset } from './workloads.ts';

/** Names that can be given on the command line. */
export const IMPORT_WORKLOADS: readonly string[] = ['import-nuclei', 'import-sarif', 'import-nmap'];

const NUCLEI_FINDINGS = Number(process.env['BENCH_NUCLEI_FINDINGS'] ?? 1e6);
const SARIF_BYTES = Number(process.env['BENCH_SARIF_BYTES'] ?? 5e8);
const NMAP_BYTES = Number(process.env['BENCH_NMAP_BYTES'] ?? 1e9);

/** Seconds for a million new findings; proportionally less for fewer. */
const NUCLEI_TARGET: Readonly<Record<Engine, number>> = { sqlite: 120, postgres: 240 };
/** Fraction of the duration of the first import. */
const REPEAT_TARGET = 0.5;
/** Seconds for the undo of an import of a million findings. */
const UNDO_TARGET = 60;
/** Seconds from the end of an import until a search by words finds its last findings. */
const SEARCH_TARGET = 300;
/** Fraction of the throughput of saxes alone. */
const NMAP_TARGET: Readonly<Record<Engine, number>> = { sqlite: 0.4, postgres: 0.3 };
/** MiB of the server process, which runs the import. */
const MEMORY_TARGET = 250;
/** Limits for other requests meanwhile: reads as a multiple of their p99 without an import, single writes in ms. */
const READ_TARGET = 2;
const WRITE_TARGET = 250;

interface Imports {
  engine: Engine;
  env: NodeJS.ProcessEnv;
  dataDirectory: string;
  dataset: Dataset;
  token: string;
}

/** Imports large reports, each on a new server, while other requests read and write. */
export async function measureImports(
  imports: Imports,
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-report-'));
  const rows: BenchmarkResult[] = [];
  try {
    if (isSelected('import-nuclei')) rows.push(...(await measureNuclei(imports, folder)));
    if (isSelected('import-sarif')) rows.push(...(await measureSarif(imports, folder)));
    if (isSelected('import-nmap')) rows.push(...(await measureNmap(imports, folder)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureNuclei(imports: Imports, folder: string): Promise<BenchmarkResult[]> {
  const { engine, dataset } = imports;
  const file = join(folder, 'nuclei.jsonl');
  await writeNucleiReport(file, NUCLEI_FINDINGS);
  const name = `import-nuclei of ${NUCLEI_FINDINGS} findings`;
  let searchable = 0;
  const first = await importBesideOthers(imports, file, name, dataset.assessment, async (request) => {
    searchable = await awaitSearch(request, lastNucleiTemplate(NUCLEI_FINDINGS));
  });
  const repeated = await importBesideOthers(imports, file, `${name} again`, dataset.assessment);
  // The first undo keeps findings that another import has seen; the second deletes findings.
  const undos = [
    { of: `${name} again`, ...(await undoBesideOthers(imports, repeated.id, `undo of ${name} again`)) },
    { of: name, ...(await undoBesideOthers(imports, first.id, `undo of ${name}`)) },
  ];
  const target = (NUCLEI_TARGET[engine] * NUCLEI_FINDINGS) / 1e6;
  const undoTarget = (UNDO_TARGET * NUCLEI_FINDINGS) / 1e6;
  const ratio = repeated.seconds / first.seconds;
  return [
    {
      engine,
      workload: `${name}: ${first.seconds.toFixed(1)} s`,
      ratio: first.seconds / target,
      target: `<= ${target} s`,
      holds: first.seconds <= target,
    },
    ...first.rows,
    {
      engine,
      workload: `${name}: found by words after ${searchable.toFixed(1)} s`,
      ratio: searchable / SEARCH_TARGET,
      target: `<= ${SEARCH_TARGET} s`,
      holds: searchable <= SEARCH_TARGET,
    },
    {
      engine,
      workload: `${name} again: ${repeated.seconds.toFixed(1)} s`,
      ratio,
      target: `<= ${REPEAT_TARGET} x the first`,
      holds: ratio <= REPEAT_TARGET,
    },
    ...repeated.rows,
    ...undos.flatMap(({ of, seconds, rows }) => [
      {
        engine,
        workload: `undo of ${of}: ${seconds.toFixed(1)} s`,
        ratio: seconds / undoTarget,
        target: `<= ${undoTarget} s`,
        holds: seconds <= undoTarget,
      },
      ...rows,
    ]),
  ];
}

async function measureSarif(imports: Imports, folder: string): Promise<BenchmarkResult[]> {
  const file = join(folder, 'one-line.sarif');
  const bytes = await writeSarifReport(file, SARIF_BYTES);
  const name = `import-sarif of ${Math.round(bytes / 1e6)} MB`;
  const { seconds, rows } = await importBesideOthers(imports, file, name, imports.dataset.assessment);
  const speed = bytes / 1e6 / seconds;
  const workload = `${name}: ${speed.toFixed(1)} MB/s`;
  return [{ engine: imports.engine, workload, ratio: speed, target: '', holds: true }, ...rows];
}

async function measureNmap(imports: Imports, folder: string): Promise<BenchmarkResult[]> {
  const { engine } = imports;
  const file = join(folder, 'report.xml');
  const bytes = await writeNmapReport(file, NMAP_BYTES);
  const saxes = await runCommand(['--import', 'tsx', 'bench/baseline-xml.ts', file], imports.env);
  const name = `import-nmap of ${Math.round(bytes / 1e6)} MB`;
  const { seconds, rows } = await importBesideOthers(imports, file, name);
  const ratio = saxes.seconds / seconds;
  const speed = (time: number) => `${(bytes / 1e6 / time).toFixed(1)} MB/s`;
  const target = NMAP_TARGET[engine];
  return [
    {
      engine,
      workload: `${name}: ${speed(seconds)}, saxes ${speed(saxes.seconds)}`,
      ratio,
      target: `>= ${target} x saxes`,
      holds: ratio >= target,
    },
    ...rows,
  ];
}

/**
 * @param afterwards what to wait for on the same server, beside the same requests
 * @returns the duration by the server's clock, the id, and the results for its memory and for other requests
 */
async function importBesideOthers(
  imports: Imports,
  file: string,
  name: string,
  assessment?: string,
  afterwards?: (request: RequestTarget) => Promise<void>,
): Promise<Measured & { id: number }> {
  let id = 0;
  const measured = await measureBesideOthers(imports, name, async (request) => {
    id = await startImport(request, await openAsBlob(file), assessment);
    const seconds = await awaitImportEnd(request, id);
    await afterwards?.(request);
    return seconds;
  });
  return { ...measured, id };
}

/** Undoes an import. @returns the duration by our clock, and the results for memory and other requests */
function undoBesideOthers(imports: Imports, id: number, name: string): Promise<Measured> {
  return measureBesideOthers(imports, name, async (request) => {
    const startedAt = performance.now();
    await send(request, `/v1/imports/${id}/undo`, { method: 'POST' });
    for (;;) {
      const { undone } = (await send(request, `/v1/imports/${id}`)) as ImportResponse;
      if (undone !== null) return (performance.now() - startedAt) / 1_000;
      await delay(200);
    }
  });
}

type DatasetTarget = RequestTarget & { dataset: Dataset };

interface Measured {
  seconds: number;
  rows: BenchmarkResult[];
}

/** @param work what to do on a new server while other requests read and write; returns its seconds */
async function measureBesideOthers(
  { engine, env, dataDirectory, dataset, token }: Imports,
  name: string,
  work: (request: DatasetTarget) => Promise<number>,
): Promise<Measured> {
  progress(`${engine}: ${name}`);
  const server = await startAssay(env, dataDirectory);
  try {
    const request = { server, dataset, token };
    const others = { read: () => read(request), write: (number: number) => write(request, number) };
    const quiet = await measureQuietReads(others);
    const { result: seconds, p99 } = await runBesideOthers(others, () => work(request));
    const peakMemory = server.peakMemory();
    const ratio = p99.reads / quiet;
    return {
      seconds,
      rows: [
        {
          engine,
          workload: `${name}: memory`,
          peakMemory,
          ratio: peakMemory / MEMORY_TARGET,
          target: `< ${MEMORY_TARGET} MiB`,
          holds: peakMemory < MEMORY_TARGET,
        },
        {
          engine,
          workload: `${name}: others' reads`,
          p99: p99.reads,
          ratio,
          target: `p99 <= ${READ_TARGET} x quiet`,
          holds: ratio <= READ_TARGET,
        },
        {
          engine,
          workload: `${name}: others' writes`,
          p99: p99.writes,
          ratio: p99.writes / WRITE_TARGET,
          target: `p99 <= ${WRITE_TARGET} ms`,
          holds: p99.writes <= WRITE_TARGET,
        },
      ],
    };
  } finally {
    await server.stop();
  }
}

/** Reads a page of ports. @returns milliseconds */
function read(request: DatasetTarget): Promise<number> {
  const { organization, hosts } = request.dataset;
  return measureTime(() =>
    send(request, `/api/streaming/v1/${organization}/assets/${hosts['60']}/ports?per_page=50`),
  );
}

/** Changes a vulnerability. @returns milliseconds */
function write(request: DatasetTarget, number: number): Promise<number> {
  const { vulnerabilities } = request.dataset;
  const path = `/v1/vulnerabilities/${vulnerabilities[number % vulnerabilities.length]}`;
  const body = JSON.stringify({ status_id: 1 + (number % 9) });
  return measureTime(() =>
    send(request, path, { method: 'PATCH', body, headers: { 'content-type': 'application/json' } }),
  );
}
