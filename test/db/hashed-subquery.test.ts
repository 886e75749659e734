import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inSelected } from '../../src/db/dialect-sql.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const { db } = await useOwnDatabase();

describe.runIf(engine() === 'postgres')('A condition on many selected ids', () => {
  // The planner expects few vulnerabilities per organization, because the table has no statistics.
  it.each([
    ['20,000 ids', 20_000],
    ['1,000,000 ids', 1_000_000],
  ])('uses a hashed subplan if the planner expects %s', async (_title, count) => {
    const ids = sql`select number from generate_series(1, ${sql.lit(count)}::bigint) as number`;
    const { rows } = await sql<Record<string, string>>`explain select id from vulnerabilities
      where organization_id = 1 and ${inSelected(db.read, sql.ref<number>('id'), ids)}`.execute(db.read);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Filter: .*hashed SubPlan/);
  });
});
