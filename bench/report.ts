import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { BenchmarkResult } from './measure.ts';

/** Prints a table of results, and writes them to a file. */
export function report(rows: readonly BenchmarkResult[], file: string): void {
  const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? 'unknown', node: process.version };
  writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`);
  const cell = (value: number | undefined, digits: number) =>
    value === undefined ? '' : value.toFixed(digits);
  const table = [
    ['engine', 'workload', 'req/s', 'p50 ms', 'p99 ms', 'peak MiB', 'ratio', 'target', 'holds'],
    ...rows.map((row) => [
      row.engine,
      row.workload,
      cell(row.requestsPerSecond, 0),
      cell(row.p50, 2),
      cell(row.p99, 2),
      cell(row.peakMemory, 0),
      cell(row.ratio, 2),
      row.target,
      row.target === '' ? '' : row.holds ? 'yes' : 'NO',
    ]),
  ];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((line) => (line[column] ?? '').length)),
  );
  for (const line of table)
    console.log(line.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  console.log(`\n${machine.processor}, ${machine.cores} cores, Node ${machine.node}. Written to ${file}.`);
}
