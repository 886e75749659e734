import type { Transaction } from '../../db/engine.ts';
import { forNoKeyUpdate } from '../../db/dialect-sql.ts';
import { deriveHost } from '../assets/scans/derive-ports.ts';
import { countDetections } from '../assets/scans/host-detections.ts';
import { lockRows } from '../shared/lock-rows.ts';
import type { UndoStep } from './undo-steps.ts';

/** Detections that a transaction reads again, at least of one host. */
const MAX_REREAD = 1_000;

/**
 * Deletes what an import saw of hosts or moves it to another time, and derives their ports from what all scans saw.
 * @param change what to do with the detections of some hosts
 */
export async function changeHostDetections(
  tx: Transaction,
  { id, organizationId }: { id: number; organizationId: number },
  change: (hosts: readonly number[]) => Promise<unknown>,
  after: number,
  limit: number,
): Promise<UndoStep> {
  const rows = await tx
    .selectFrom('host_detections')
    .select('asset_id')
    .distinct()
    .where('import_id', '=', id)
    .where('asset_id', '>', after)
    .orderBy('asset_id')
    .limit(limit)
    .execute();
  const found = rows.map((row) => row.asset_id);
  if (found.length === 0) return { last: null, done: 0, kept: 0 };
  const counts = new Map((await countDetections(tx, { ids: found })).map((row) => [row.asset_id, row.count]));
  let reread = 0;
  const hosts = found.filter((host, index) => {
    reread += counts.get(host) ?? 0;
    return index === 0 || reread <= MAX_REREAD;
  });
  await lockRows(tx, 'assets', hosts, forNoKeyUpdate);
  await change(hosts);
  for (const host of hosts) await deriveHost(tx, organizationId, host, id);
  const isLast = hosts.length === found.length && found.length < limit;
  return { last: isLast ? null : (hosts.at(-1) ?? null), done: 0, kept: 0 };
}
