import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../src/db/engine.ts';
import { writeNmapReport } from './nmap-report.ts';
import { runCommand } from './processes.ts';

const SPEED_TARGET = 0.4;
const MEMORY_TARGET = 200;

/** Imports a large report into a database that has the organization `bench`, beside saxes alone on the same file. */
export async function measureImport(
  engine: Engine,
  env: NodeJS.ProcessEnv,
  dataDirectory: string,
  bytes: number,
) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-report-'));
  const file = join(folder, 'report.xml');
  try {
    const size = (await writeNmapReport(file, bytes)) / 1e6;
    const saxes = await runCommand(['--import', 'tsx', 'bench/saxes-alone.ts', file], env);
    const assay = await runCommand(
      ['dist/main.js', 'import', 'nmap', file, '--organization', 'bench', '--data', dataDirectory, '--json'],
      env,
    );
    const ratio = saxes.seconds / assay.seconds;
    const workload = `import of ${Math.round(size)} MB`;
    const megabytes = (seconds: number) => `${(size / seconds).toFixed(1)} MB/s`;
    return [
      {
        engine,
        workload: `${workload}: ${megabytes(assay.seconds)}, saxes ${megabytes(saxes.seconds)}`,
        ratio,
        target: engine === 'sqlite' ? `>= ${SPEED_TARGET} x saxes` : '',
        holds: ratio >= SPEED_TARGET,
      },
      {
        engine,
        workload: `${workload}: memory`,
        peakMemory: assay.peakMemory,
        ratio: assay.peakMemory / MEMORY_TARGET,
        target: `< ${MEMORY_TARGET} MiB`,
        holds: assay.peakMemory < MEMORY_TARGET,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
