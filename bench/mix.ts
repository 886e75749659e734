import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Engine } from '../src/db/database.ts';
import { writeNucleiReport } from './finding-reports.ts';
import { startPostgres } from '../test/harness/postgres.ts';
import { POSTGRES_FLAGS } from './lists-store.ts';
import { progress } from './measure.ts';
import { fillMix } from './mix-data.ts';
import type { MixMessage, MixPhase, MixResult, MixSetup } from './mix-load.ts';
import { KINDS } from './mix-tab.ts';
import { type Server, startAssay } from './processes.ts';

/** Milliseconds. */
const READ_P99 = 150;
const WRITE_P99 = 250;
/** Resident memory of the last quarter, to the second. */
const MEMORY_RATIO = 1.05;
const REPORT_FINDINGS = [100, 200, 300, 500];

/** Actions a second. One is some ten requests. */
const FIRST_RATE = 4;
const WARM_UP: MixPhase = { rate: FIRST_RATE, seconds: 10 };
const STEPS = 10;
const STEP_SECONDS = 6;

const ENGINES = ['sqlite', 'postgres'] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '6' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0) || positionals.some((name) => !ENGINES.some((engine) => engine === name)))
  throw new Error('Usage: npm run bench:mix -- [sqlite] [postgres] [--minutes <number>]');
const engines = ENGINES.filter((engine) => positionals.length === 0 || positionals.includes(engine));

/** A process of its own, so that it does not use the server's thread. */
class MixLoad {
  readonly #child = fork('bench/mix-load.ts', { execArgv: ['--import', 'tsx'] });

  constructor(setup: MixSetup) {
    this.#child.send(setup);
  }

  run(phase: MixPhase): Promise<MixResult> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        this.#child.removeAllListeners('message').removeAllListeners('exit');
        end();
      };
      this.#child.on('message', (message: MixMessage) => {
        if ('result' in message) settle(() => resolve(message.result));
        else if ('error' in message) settle(() => reject(new Error(message.error)));
        else {
          const { actions, waiting, unexpected } = message.progress;
          progress(`  ${actions} actions, ${waiting} under way, ${unexpected} unexpected responses`);
        }
      });
      this.#child.once('exit', (code) => settle(() => reject(new Error(`The load ended with ${code}.`))));
      this.#child.send(phase);
    });
  }

  stop(): void {
    this.#child.kill();
  }
}

const isWithinLimits = ({ kinds, unexpected, waiting }: MixResult, rate: number): boolean =>
  kinds.read.p99 <= READ_P99 &&
  kinds.write.p99 <= WRITE_P99 &&
  Object.keys(unexpected).length === 0 &&
  // More than a second's actions wait.
  waiting <= Math.max(rate, FIRST_RATE);

/**
 * Doubles the rate until a limit breaks, then halves the distance. A rate that breaks is tried once more: others may
 * have used the machine.
 * @returns actions a second; 0 if none was in limits
 */
async function findHighestRate(load: MixLoad): Promise<number> {
  let [highest, lowestBroken, rate] = [0, Infinity, FIRST_RATE];
  let isRepeated = false;
  for (let step = 0; step < STEPS; step += 1) {
    const result = await load.run({ rate, seconds: STEP_SECONDS });
    const holds = isWithinLimits(result, rate);
    const { kinds, perSecond, waiting, samples } = result;
    progress(
      `  ${rate.toFixed(1)} actions/s, ${perSecond.toFixed(0)} requests/s: p99 of reads ${kinds.read.p99.toFixed(0)} ms, of writes ${kinds.write.p99.toFixed(0)} ms, ${waiting} under way at the end${holds ? '' : ', not in limits'}`,
    );
    for (const sample of samples) progress(`    ${sample}`);
    isRepeated = !holds && !isRepeated;
    if (isRepeated) continue;
    if (holds) highest = rate;
    else lowestBroken = rate;
    rate = lowestBroken === Infinity ? rate * 2 : (highest + lowestBroken) / 2;
  }
  return highest;
}

/** Samples the resident memory of the server once a second, while something runs. @returns means of quarters, in MiB */
async function watchMemory<T>(server: Server, work: () => Promise<T>): Promise<[T, number[]]> {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(server.memory() / 2 ** 20), 1_000);
  const result = await work().finally(() => clearInterval(timer));
  const quarters = [0, 1, 2, 3].map((number) => {
    const quarter = samples.slice(
      Math.floor((samples.length * number) / 4),
      Math.floor((samples.length * (number + 1)) / 4),
    );
    return quarter.reduce((sum, value) => sum + value, 0) / quarter.length;
  });
  return [result, quarters];
}

/** @returns whether every aim holds */
async function measure(engine: Engine): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-'));
  const cluster = engine === 'postgres' ? await startPostgres(POSTGRES_FLAGS) : undefined;
  try {
    const databaseUrl = cluster?.url('postgres');
    progress(`${engine}: filling`);
    const people = await fillMix(databaseUrl, directory);
    const reports: string[] = [];
    for (const findings of REPORT_FINDINGS) {
      const file = join(directory, `report-${findings}.jsonl`);
      await writeNucleiReport(file, findings);
      reports.push(file);
    }
    const env = {
      ASSAY_RATE_LIMIT: '0',
      ...(databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl }),
    };
    const server = await startAssay(env, directory);
    const load = new MixLoad({ port: server.port, people, reports });
    try {
      progress(`${engine}: warming up, ${people.length} people`);
      await load.run(WARM_UP);
      progress(`${engine}: looking for the highest rate`);
      const highest = await findHighestRate(load);
      const rate = (highest === 0 ? FIRST_RATE : highest) / 2;
      progress(`${engine}: ${rate.toFixed(1)} actions/s, half of the highest rate, for ${minutes} minutes`);
      const [result, memory] = await watchMemory(server, () => load.run({ rate, seconds: minutes * 60 }));
      return report(engine, { rate, highest, result, memory });
    } finally {
      load.stop();
      await server.stop();
    }
  } finally {
    await cluster?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Measured {
  rate: number;
  highest: number;
  result: MixResult;
  memory: readonly number[];
}

function report(engine: Engine, { rate, highest, result, memory }: Measured): boolean {
  const { kinds, actions, perSecond, serverErrors, unexpected, samples, slowest } = result;
  console.log(
    `\n${engine}: ${actions} actions in ${minutes} minutes, ${rate.toFixed(1)}/s (highest ${highest.toFixed(1)}/s), ${perSecond.toFixed(0)} requests/s`,
  );
  for (const kind of KINDS) {
    const { count, p50, p99 } = kinds[kind];
    console.log(
      `  ${kind.padEnd(8)} ${String(count).padStart(8)} requests  p50 ${p50.toFixed(1).padStart(8)} ms  p99 ${p99.toFixed(1).padStart(8)} ms`,
    );
  }
  for (const { milliseconds, route } of slowest)
    console.log(
      `  slow: ${milliseconds.toFixed(0).padStart(5)} ms ${decodeURIComponent(route).slice(0, 160)}`,
    );
  const [, second = 0, , last = 0] = memory;
  console.log(`  memory by quarter: ${memory.map((value) => value.toFixed(0)).join(', ')} MiB`);
  for (const [name, count] of Object.entries(unexpected)) console.log(`  unexpected: ${count} × ${name}`);
  for (const sample of samples) console.log(`    ${sample}`);
  const aims = [
    ['p99 of reads', kinds.read.p99, READ_P99, 'ms'],
    ['p99 of single writes', kinds.write.p99, WRITE_P99, 'ms'],
    ['memory, last quarter to second', last / second, MEMORY_RATIO, ''],
    ['5xx', serverErrors, 0, ''],
    [
      'other unexpected responses',
      Object.values(unexpected).reduce((sum, count) => sum + count, -serverErrors),
      0,
      '',
    ],
  ] as const;
  for (const [name, value, limit, unit] of aims)
    console.log(
      `  ${name}: ${value.toFixed(unit === 'ms' ? 0 : 2)} (aim <= ${limit}${unit === '' ? '' : ` ${unit}`}) ${value <= limit ? 'holds' : 'DOES NOT HOLD'}`,
    );
  return highest > 0 && aims.every(([, value, limit]) => value <= limit);
}

const results: boolean[] = [];
for (const engine of engines) results.push(await measure(engine));
console.log(`\n${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}.`);
process.exitCode = results.every(Boolean) ? 0 : 1;
