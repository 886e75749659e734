import { sql } from 'kysely';
import type { Transaction } from '../../src/db/database.ts';
import { type Port, readPortDeltas, refreshPortCounts } from '../../src/domain/assets/ports.ts';
import { addDeltas } from '../../src/domain/shared/counters.ts';
import { lockRows } from '../../src/domain/shared/lock-rows.ts';
import { forNoKeyUpdate } from '../../src/db/dialect-sql.ts';

/** Eleven parameters per row; the engines accept at least 32,766 per statement. */
const ROWS_PER_STATEMENT = 500;

/** Upserts ports of an asset. The later of two observations of a port wins; the first and last times are stored. */
export async function putPorts(tx: Transaction, assetId: number, ports: readonly Port[]): Promise<void> {
  // A statement cannot upsert the same row twice.
  const unique = [...new Map(ports.map((port) => [`${port.number}/${port.protocol}`, port])).values()];
  if (unique.length === 0) return;
  await lockRows(tx, 'assets', [assetId], forNoKeyUpdate);
  const countBefore = await readPortDeltas(tx, assetId, -1);
  for (let start = 0; start < unique.length; start += ROWS_PER_STATEMENT) {
    await tx
      .insertInto('ports')
      .values(unique.slice(start, start + ROWS_PER_STATEMENT).map((port) => ({ ...port, asset_id: assetId })))
      .onConflict((conflict) =>
        conflict.columns(['asset_id', 'number', 'protocol']).doUpdateSet({
          observed_state: laterOf('observed_state'),
          service_name: laterOf('service_name'),
          service_banner: laterOf('service_banner'),
          product_name: laterOf('product_name'),
          product_version: laterOf('product_version'),
          cpe: laterOf('cpe'),
          first_seen: sql`case when excluded.first_seen < ports.first_seen
              then excluded.first_seen else ports.first_seen end`,
          last_seen: laterOf('last_seen'),
        }),
      )
      .execute();
  }
  await refreshPortCounts(tx, [assetId]);
  await addDeltas(tx, [...countBefore, ...(await readPortDeltas(tx, assetId, 1))]);
}

function laterOf<F extends keyof Port>(field: F) {
  return sql<Port[F]>`case when excluded.last_seen >= ports.last_seen
    then excluded.${sql.ref(field)} else ${sql.ref(`ports.${field}`)} end`;
}
