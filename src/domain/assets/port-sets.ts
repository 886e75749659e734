import { createHash } from 'node:crypto';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { PortRange } from './scans/diff-ports.ts';

/** Characters. Longer port lists are stored once per organization, under their hash. */
const MAX_INLINE_LENGTH = 40;

/**
 * Writes ports in canonical form: `tcp/1-1000 udp/53`.
 * @returns an empty text for no ports
 */
export function formatPorts(ranges: readonly PortRange[]): string {
  const sorted = ranges
    .filter(([, first, last]) => first <= last)
    .toSorted(([a, first], [b, second]) => (a === b ? first - second : a < b ? -1 : 1));
  const merged: [string, number, number][] = [];
  for (const [protocol, first, last] of sorted) {
    const before = merged.at(-1);
    if (before !== undefined && before[0] === protocol && first <= before[2] + 1)
      before[2] = Math.max(before[2], last);
    else merged.push([protocol, first, last]);
  }
  return merged
    .map(([protocol, first, last]) => `${protocol}/${first === last ? first : `${first}-${last}`}`)
    .join(' ');
}

/** @returns the value that other tables store for a port list: the text, or its hash if it is long */
export function portSetKey(text: string): string {
  return text.length <= MAX_INLINE_LENGTH
    ? text
    : `#${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
}

/** Stores long texts under their hashes: port lists, and observations that many hosts share. */
export async function storePortSets(
  tx: Transaction,
  organizationId: number,
  texts: Iterable<string>,
): Promise<void> {
  const rows = [...new Set(texts)]
    .filter((ports) => ports.length > MAX_INLINE_LENGTH)
    .map((ports) => ({ organization_id: organizationId, name: portSetKey(ports), ports }))
    // Concurrent imports may store the same: in one order, they do not deadlock.
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  if (rows.length === 0) return;
  await tx
    .insertInto('port_sets')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .execute();
}

/** @returns port lists by the keys that other tables store */
export async function loadPortSets(
  db: ReadConnection,
  organizationId: number,
  names: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const digests: string[] = [];
  for (const name of new Set(names)) {
    if (name.startsWith('#')) digests.push(name);
    else texts.set(name, name);
  }
  if (digests.length === 0) return texts;
  const rows = await db
    .selectFrom('port_sets')
    .select(['name', 'ports'])
    .where('organization_id', '=', organizationId)
    .where((eb) => inList(db, eb.ref('name'), digests))
    .execute();
  for (const { name, ports } of rows) texts.set(name, ports);
  return texts;
}

/**
 * Checks whether a scan of the ports `scanned` would have detected a finding on the ports `needed`.
 * @param scanned a port list; empty for a scan of the whole host
 * @param needed the ports of a finding; empty for a finding of the host itself, which only a scan of the whole host
 *   covers
 */
export function coversPorts(scanned: string, needed: string): boolean {
  if (scanned === '' || scanned === needed) return true;
  if (needed === '') return false;
  const ranges = parsePorts(scanned);
  return parsePorts(needed).every(([protocol, first, last]) =>
    // Adjacent ranges are merged, so a covered range always lies within one.
    ranges.some(([scannedProtocol, from, to]) => scannedProtocol === protocol && from <= first && last <= to),
  );
}

/** @returns the ranges of a port list that is not empty */
export function parsePorts(text: string): [protocol: PortRange[0], first: number, last: number][] {
  return text.split(' ').map((range) => {
    const [protocol, numbers = ''] = range.split('/') as [PortRange[0], string?];
    const [first, last = first] = numbers.split('-').map(Number);
    return [protocol, first ?? Number.NaN, last ?? Number.NaN];
  });
}
