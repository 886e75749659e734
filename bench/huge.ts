import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureReading } from './lists.ts';
import { openListsStore, POSTGRES_FLAGS } from './lists-store.ts';
import { report } from './report.ts';

/** Ten million vulnerabilities, events and ports in 1,000 organizations. */
const DATA = {
  name: 'huge',
  sizes: {
    large: 1_000_000,
    others: { count: 20, vulnerabilities: 100_000 },
    small: 1_000,
    tiny: { count: 978, vulnerabilities: 7_156 },
  },
  // Those of docs/postgresql.md, and two that make indexes faster.
  flags: [...POSTGRES_FLAGS, '-c', 'maintenance_work_mem=1GB', '-c', 'max_wal_size=8GB'],
};
const FREE_BYTES = 50e9;
const RESULTS = 'bench/results-huge.json';
/** Workloads of lists named on the command line; all by default. */
const names = process.argv.slice(2);

const directory = process.env['BENCH_DATA'] ?? tmpdir();
const { bavail, bsize } = await statfs(directory);
// Data that an earlier run has filled needs no more.
if (!existsSync(join(directory, DATA.name)) && bavail * bsize < FREE_BYTES)
  throw new Error(`${directory} needs 50 GB of free space. Set BENCH_DATA to a folder that has it.`);

const store = await openListsStore('postgres', DATA);
try {
  const rows = await measureReading(
    'postgres',
    store,
    (name) => names.length === 0 || names.some((part) => name.includes(part)),
  );
  report(rows, RESULTS);
} finally {
  await store.stop();
}
