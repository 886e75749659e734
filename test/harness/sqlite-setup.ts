import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { clausesOnSqliteAlone } from './statement-coverage.ts';
import { temporaryFolder } from './temporary.ts';

/** Makes one migrated database for the whole run, which each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Imported late, because it is compiled first.
  const { openDatabase } = await import('../../src/db/open-database.ts');
  const dataDirectory = temporaryFolder();
  const template = await openDatabase({ dataDirectory, timeout: 30_000 });
  await template.migrate();
  // Closing the last connection checkpoints the WAL.
  await template.close();
  project.provide('templates', dataDirectory);
  project.provide('sqliteTemplate', join(dataDirectory, 'assay.db'));
  return async () => {
    rmSync(dataDirectory, { recursive: true, force: true });
    if (project.name !== 'sqlite') return;
    const onSqlite = project.vitest.projects.filter(({ name }) => name !== 'postgres');
    const uncovered = await clausesOnSqliteAlone(onSqlite, project.getProvidedContext().product);
    if (uncovered.size === 0) return;
    // Vitest prints the error of a teardown, but the run would succeed.
    process.exitCode = 1;
    throw new Error(explain(uncovered));
  };
}

const explain = (uncovered: ReadonlyMap<string, string>): string =>
  [
    'No test runs these clauses on PostgreSQL. Take a file that runs them off ON_SQLITE_ALONE (test/engine-matrix.ts).',
    ...[...uncovered].map(([clause, file]) => `${file}: ${clause}`),
  ].join('\n');
