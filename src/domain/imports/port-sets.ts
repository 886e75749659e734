import { createHash } from 'node:crypto';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { PortRange } from '../assets/scans/diff-ports.ts';

/** Longer texts of ports are kept once for an organization, under the digest that stands for them. */
const MAX_INLINE_LENGTH = 40;

/**
 * Ports in the one text that stands for them: `tcp/1-1000 udp/53`.
 * @returns empty for none
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

/** @returns what a text of ports is kept as in other tables: itself, or a digest when it is long */
export function portSetKey(text: string): string {
  return text.length <= MAX_INLINE_LENGTH
    ? text
    : `#${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
}

/** Remembers the texts of ports that are long. */
export async function storePortSets(
  tx: Transaction,
  organizationId: number,
  texts: Iterable<string>,
): Promise<void> {
  const rows = [...new Set(texts)]
    .filter((ports) => ports.length > MAX_INLINE_LENGTH)
    .map((ports) => ({ organization_id: organizationId, name: portSetKey(ports), ports }));
  if (rows.length === 0) return;
  await tx
    .insertInto('port_sets')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .execute();
}

/** @returns the texts of ports by the names that stand for them */
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
 * Whether a scan of some ports would have found what was found on others.
 * @param scanned a text of ports; empty for a scan of the whole host
 * @param needed those of a finding; empty for one of the host itself, which only a scan of the whole host covers
 */
export function coversPorts(scanned: string, needed: string): boolean {
  if (scanned === '' || scanned === needed) return true;
  if (needed === '') return false;
  const ranges = parsePorts(scanned);
  return parsePorts(needed).every(([protocol, first, last]) =>
    // Ranges that touch are one, so that what is covered lies in a single one.
    ranges.some(([other, from, to]) => other === protocol && from <= first && last <= to),
  );
}

function parsePorts(text: string): [protocol: string, first: number, last: number][] {
  return text.split(' ').map((range) => {
    const [protocol = '', numbers = ''] = range.split('/');
    const [first, last = first] = numbers.split('-').map(Number);
    return [protocol, first ?? Number.NaN, last ?? Number.NaN];
  });
}
