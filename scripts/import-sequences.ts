// Checks that the order of imports and undos does not matter, with random sequences of imports, undos and changes by
// people (test/harness/import-sequences). Prints the smallest sequence that fails.
//   npx tsx scripts/import-sequences.ts --count 100000 --seed 1 --engine postgres
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/db/open-database.ts';
import { checkSequences } from '../test/harness/import-sequences/check-sequences.ts';
import { temporaryFolder } from '../test/harness/temporary.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    /** The seed of the first sequence. */
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    engine: { type: 'string', default: 'sqlite' },
    /** Failures after which it stops. */
    failures: { type: 'string', default: '1' },
    /** Steps of a sequence. */
    steps: { type: 'string', default: '8' },
    'in-order': { type: 'boolean', default: false },
  },
});
const [count, seed, maxFailures, maxSteps] = [values.count, values.seed, values.failures, values.steps].map(
  Number,
) as [number, number, number, number];
/** Databases become slower as they grow. */
const PER_DATABASE = 2_000;
const isPostgres = values.engine === 'postgres';

const dataDirectory = temporaryFolder();
const cluster = isPostgres
  ? await (
      await import('../test/harness/postgres.ts')
    ).startPostgres(
      ['fsync=off', 'full_page_writes=off', 'jit=off'].flatMap((setting) => ['-c', setting]),
      temporaryFolder(),
    )
  : undefined;
const startedAt = performance.now();
let failed = 0;
console.log(`Checks ${count} sequences from seed ${seed} on ${values.engine}.`);
try {
  for (let done = 0; done < count && failed < maxFailures; done += PER_DATABASE) {
    const folder = temporaryFolder(dataDirectory);
    const db = await openDatabase({
      dataDirectory: folder,
      timeout: 30_000,
      ...(cluster === undefined
        ? {}
        : { databaseUrl: await createDatabase(cluster.url, `sequences_${done}`) }),
    });
    await db.migrate();
    const failures = await checkSequences(db, {
      seed: seed + done,
      count: Math.min(PER_DATABASE, count - done),
      mostFailures: maxFailures - failed,
      min: Math.min(5, maxSteps),
      max: maxSteps,
      inOrder: values['in-order'],
      parallel: isPostgres ? 2 * availableParallelism() : 2,
      onProgress(finished) {
        const total = done + finished;
        const seconds = (performance.now() - startedAt) / 1_000;
        if (total % 250 === 0) console.log(`${total} sequences, ${(total / seconds).toFixed(1)} per second`);
      },
    });
    for (const failure of failures) console.log(`\nSeed ${failure.seed} fails:\n${failure.text}`);
    failed += failures.length;
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
} finally {
  await cluster?.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
}
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(failed === 0 ? `All pass, in ${seconds} s.` : `${failed} failed, in ${seconds} s.`);
process.exitCode = failed === 0 ? 0 : 1;

async function createDatabase(urlOf: (database: string) => string, name: string): Promise<string> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return urlOf(name);
}
