import type { ReadConnection } from '../../db/database.ts';
import { selectHostsByAddress, selectPortCounts } from './scans/host-queries.ts';

export interface ListedHost {
  uid: string;
  address: string;
  openPorts: number;
}

/**
 * @param addresses each once
 * @returns the assets of these hosts, in the order of the addresses
 */
export async function listHosts(
  db: ReadConnection,
  organizationId: number,
  addresses: readonly string[],
): Promise<ListedHost[]> {
  const rows = await selectHostsByAddress(db, { organization: organizationId, addresses });
  const counted = await selectPortCounts(db, { ids: rows.map(({ id }) => id), state: 'open' });
  const counts = new Map(counted.map(({ id, ports }) => [id, ports]));
  const hosts = new Map(rows.map((host) => [host.address, host]));
  return addresses.flatMap((address) => {
    const host = hosts.get(address);
    return host === undefined ? [] : [{ uid: host.uid, address, openPorts: counts.get(host.id) ?? 0 }];
  });
}
