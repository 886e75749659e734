import { describe, expectTypeOf, it } from 'vitest';
import type { ReadConnection, Transaction } from '../../src/db/database.ts';
import { prepareQuery, prepareWrite } from '../../src/db/prepared-queries.ts';

type Build<Prepare extends (build: never) => unknown> = Parameters<Prepare>[0];

// The compiler is the test: `npm run types` fails if an expectation is wrong.
describe('Prepared queries with rows of another type do not compile', () => {
  it('for selects', () => {
    const select = (reader: ReadConnection) =>
      reader.selectFrom('vulnerabilities').select(['id', 'cvss_score']);
    const where = expectTypeOf(select);
    where.toExtend<Build<typeof prepareQuery<object, { id: number; cvss_score: number | null }>>>();
    where.toExtend<Build<typeof prepareQuery<object, { id: number }>>>();
    where.not.toExtend<Build<typeof prepareQuery<object, { id: string }>>>();
    where.not.toExtend<Build<typeof prepareQuery<object, { cvss_score: number }>>>();
    where.not.toExtend<Build<typeof prepareQuery<object, { id: number; title: string }>>>();
    where.not.toExtend<Build<typeof prepareQuery<object, never>>>();
  });

  it('for writes', () => {
    const remove = (tx: Transaction) => tx.deleteFrom('users').where('id', '=', 1);
    const returning = (tx: Transaction) => remove(tx).returning('uid');
    expectTypeOf(returning).toExtend<Build<typeof prepareWrite<object, { uid: string }>>>();
    expectTypeOf(returning).not.toExtend<Build<typeof prepareWrite<object, { id: number }>>>();
    expectTypeOf(remove).not.toExtend<Build<typeof prepareWrite<object, { uid: string }>>>();
    expectTypeOf(remove).not.toExtend<Build<typeof prepareWrite<object, never>>>();
  });
});
