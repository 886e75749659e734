import type { Engine } from '../src/db/database.ts';
import { send } from './companions.ts';
import { nucleiResult } from './finding-reports.ts';
import { awaitImportEnd, startImport } from './import-requests.ts';
import { type ListsStore, withServer } from './lists-store.ts';
import { type BenchmarkResult, median, progress } from './measure.ts';
import { measureTime } from './others.ts';
import { processorTimeOf, type Server } from './processes.ts';

const LIST = '/v1/vulnerabilities';
const ASSESSMENT = 'large-0';
/** Milliseconds between two looks at an import, which cost the server time themselves. */
const POLL = 50;

type Results = Promise<BenchmarkResult[]>;

interface Target {
  server: Server;
  token: string;
}

interface FindingRow {
  id: number;
  location_count: number;
  description: string;
}

/** Imports a report to its end. @returns the id of the import */
async function importReport(target: Target, results: readonly object[]): Promise<number> {
  const report = new Blob([results.map((result) => `${JSON.stringify(result)}\n`).join('')]);
  const id = await startImport(target, report, ASSESSMENT);
  await awaitImportEnd(target, id, POLL);
  return id;
}

/** @returns the findings that an import has created */
async function findingsOf({ server, token }: Target, importId: number): Promise<FindingRow[]> {
  const { text } = await send(server, { token }, `${LIST}?filter[import_id][]=${importId}&page[size]=200`);
  return JSON.parse(text) as FindingRow[];
}

const FEW = 10;
const MANY = 10_000;
const READS = 60;
const LOCATIONS_TARGET = 1.1;

/** Results of one template on as many pages of one site, which are one finding. */
function resultsOnPages(host: string, count: number): object[] {
  return Array.from({ length: count }, (_, number) => {
    const url = `https://${host}/page-${number}`;
    return { ...nucleiResult(0, 1), host: `https://${host}`, url, 'matched-at': url };
  });
}

/** Reads a finding of 10,000 locations and one of ten in turn: by operation 16, and as its page in the console does. */
export function measureLocations(
  engine: Engine,
  { tokens: { large: token }, ...store }: ListsStore,
): Results {
  return withServer(store, async (server) => {
    const importId = await importReport({ server, token }, [
      ...resultsOnPages('few.example.com', FEW),
      ...resultsOnPages('many.example.com', MANY),
    ]);
    const findings = await findingsOf({ server, token }, importId);
    const [few, many] = [FEW, MANY].map(
      (count) => findings.find(({ location_count }) => location_count === count)?.id,
    );
    if (few === undefined || many === undefined)
      throw new Error(`The import has no findings of ${FEW} and ${MANY} locations.`);
    const get = (path: string) => send(server, { token }, path);
    // As in console/src/queries: the finding, its comments, its timeline and its retests.
    const pageOf = (id: number) =>
      Promise.all(
        [
          '',
          '/comments?page[size]=50&page[number]=1',
          '/timeline?page[size]=50&page[after]=&sort=-at',
          '/patch_verifications?page[size]=200',
        ].map((path) => get(`${LIST}/${id}${path}`)),
      );
    const rows: BenchmarkResult[] = [];
    for (const [name, read] of [
      ['16', (id: number) => get(`${LIST}/${id}`)],
      ['page', pageOf],
    ] as const) {
      const times = { few: [] as number[], many: [] as number[] };
      for (let number = 0; number < READS + READS / 4; number += 1) {
        const [short, long] = [await measureTime(() => read(few)), await measureTime(() => read(many))];
        if (number < READS / 4) continue;
        times.few.push(short);
        times.many.push(long);
      }
      const p50 = median(times.many);
      const ratio = p50 / median(times.few);
      progress(`  ${name}: ${median(times.few).toFixed(1)} ms with ${FEW}, ${p50.toFixed(1)} with ${MANY}`);
      rows.push({
        engine,
        workload: `lists-locations (${name})`,
        p50,
        ratio,
        target: `<= ${LOCATIONS_TARGET} x with ${FEW}`,
        holds: ratio <= LOCATIONS_TARGET,
      });
    }
    return rows;
  });
}

const IMPORTS = Number(process.env['BENCH_SMALL_IMPORTS'] ?? 1_000);
const FINDINGS = 20;
/** One import of so many has a finding that has changed. */
const CHANGED_EVERY = 20;
const PROCESSOR_TARGET = 50;

/** @returns the report of an import with this number. Each change of a finding stays in the later reports. */
function smallReport(number: number): object[] {
  const change = Math.floor(number / CHANGED_EVERY);
  return Array.from({ length: FINDINGS }, (_, index) => {
    const result = nucleiResult(index, 1);
    const last = change - ((change - index + FINDINGS) % FINDINGS);
    if (last > 0) result.info.description += ` Seen in build ${last}.`;
    return result;
  });
}

/** Imports the same small report again and again, as a pipeline does after each build. */
export function measureSmallImports(
  engine: Engine,
  { tokens: { large: token }, databasePid, ...store }: ListsStore,
): Results {
  return withServer(store, async (server) => {
    const target = { server, token };
    const first = await importReport(target, smallReport(1));
    const used = () => ({
      server: server.processorTime(),
      database: databasePid === undefined ? 0 : processorTimeOf(databasePid),
    });
    const before = used();
    const startedAt = performance.now();
    for (let number = 1; number <= IMPORTS; number += 1) {
      await importReport(target, smallReport(number));
      if (number % 100 === 0) progress(`  ${number} of ${IMPORTS}`);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = used();
    const findings = await findingsOf(target, first);
    if (
      IMPORTS >= CHANGED_EVERY &&
      !findings.some(({ description }) => description.includes('Seen in build'))
    )
      throw new Error('The imports have changed no finding.');
    const each = {
      server: (after.server - before.server) / IMPORTS,
      database: (after.database - before.database) / IMPORTS,
    };
    progress(
      `  ${((seconds * 1_000) / IMPORTS).toFixed(0)} ms each; processor time of the server ${each.server.toFixed(1)} ms, of the database ${each.database.toFixed(1)} ms`,
    );
    const sum = each.server + each.database;
    return [
      {
        engine,
        workload: `lists-small-imports (${each.server.toFixed(0)} + ${each.database.toFixed(0)} ms of processors)`,
        ratio: sum / PROCESSOR_TARGET,
        target: `<= ${PROCESSOR_TARGET} ms`,
        holds: sum <= PROCESSOR_TARGET,
      },
    ];
  });
}
