import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject } from 'vitest';
import { ReaderPool } from '../../src/db/sqlite/reader-pool.ts';
import { StatementCache } from '../../src/db/sqlite/statement-cache.ts';
import { clausesOf, STATEMENTS_FOLDER, type StatementRecord } from './statement-coverage.ts';

/**
 * Records the SQL statements that each test file runs on SQLite, for `statement-coverage.ts`. Vitest evaluates this
 * setup file before each test file. Statements of worker threads and child processes are not recorded.
 */
const worker = globalThis as { recordedStatements?: Set<string> };

if (worker.recordedStatements === undefined) {
  const { prepare } = StatementCache.prototype;
  StatementCache.prototype.prepare = function (sql) {
    worker.recordedStatements?.add(sql);
    return prepare.call(this, sql);
  };
  const { query } = ReaderPool.prototype;
  ReaderPool.prototype.query = function (message, signal) {
    worker.recordedStatements?.add(message.sql);
    return query.call(this, message, signal);
  };
}
worker.recordedStatements = new Set();

afterAll(() => {
  const folder = join(inject('product'), STATEMENTS_FOLDER);
  mkdirSync(folder, { recursive: true });
  const record: StatementRecord = {
    file: expect.getState().testPath ?? '',
    clauses: [...new Set([...(worker.recordedStatements ?? [])].flatMap(clausesOf))],
  };
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(record));
});
