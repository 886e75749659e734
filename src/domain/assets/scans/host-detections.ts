import { sql } from 'kysely';
import { prepareInsert } from '../../../db/bulk-insert.ts';
import { inList, itemInteger, itemText, jsonRowsTable } from '../../../db/dialect-sql.ts';
import type { Transaction } from '../../../db/database.ts';
import { prepareQuery } from '../../../db/prepared-queries.ts';
import type { Port } from '../ports.ts';
import { loadPortSets, portSetKey, storePortSets } from '../port-sets.ts';
import { lockPorts } from './host-queries.ts';
import type { ScannedPorts, PortNumberRange } from './diff-ports.ts';
import {
  scannedPortsFromText,
  scannedPortsKey,
  scannedPortsText,
  observationName,
  packBaseline,
  packObservation,
  packCurrentPorts,
  type PortBaseline,
  type StoredObservation,
  unpackObservation,
} from './host-observation.ts';

export interface DetectionKey {
  assetId: number;
  seenAt: number;
  /** 0 for a scan without an import. */
  importId: number;
  /** Orders the observations that one import made at one time. */
  part: number;
}

export interface HostDetection {
  key: DetectionKey;
  observation: StoredObservation;
}

/**
 * @returns a number that orders the observations of one import at one time: by the number of the record in the report,
 *   then by the first port number
 */
export const partOf = (record = 1, firstPort = 0): number => record * 65_536 + firstPort;

/** The record number of the ports that were known before scans were stored; records of reports begin at 1. */
const BASELINE_RECORD = 0;

const insertDetections = prepareInsert(
  'host_detections',
  { asset_id: 'int', seen_at: 'int', import_id: 'int', part: 'int', observation: 'text' },
  'on conflict (asset_id, seen_at, import_id, part) do update set observation = excluded.observation',
);

const insertObservations = prepareInsert(
  'host_observations',
  { asset_id: 'int', name: 'text', observation: 'text' },
  'on conflict (asset_id, name) do nothing',
);

/**
 * Stores the detections of hosts by a scan. A repeated run overwrites those of the earlier run. Lock the hosts first.
 */
export async function storeDetections(
  tx: Transaction,
  organizationId: number,
  detections: readonly HostDetection[],
): Promise<void> {
  const portSets = new Set<string>();
  const namesByText = new Map<string, string>();
  const texts = detections.map(({ key, observation }) => {
    const { scannedPorts, states } = observation;
    const portSet = scannedPorts === undefined ? undefined : scannedPortsText(scannedPorts);
    if (portSet !== undefined) portSets.add(portSet.text);
    const text = packObservation(observation, portSet?.key ?? '');
    if (states === undefined) return { key, text };
    // Most hosts of a scan have the same text, which is stored once.
    const name = namesByText.get(text) ?? CURRENT_PORTS + portSetKey(text);
    namesByText.set(text, name);
    return { key, text: name, name };
  });
  await storePortSets(tx, organizationId, [...portSets, ...namesByText.keys()]);
  await insertTexts(tx, texts);
}

/** Begins the name of an observation that lists no ports, because they are the current ports of the host. */
const CURRENT_PORTS = '=';

/**
 * Adds the current ports of hosts to the observations that list none because they are the same. Call it before the
 * ports change, or pass the ports from before the change.
 * @param hostPorts the ports of the hosts before the change; absent: locks the hosts and reads their ports
 */
export async function storeCurrentPorts(
  tx: Transaction,
  organizationId: number,
  assetIds: readonly number[],
  hostPorts?: ReadonlyMap<number, readonly Port[]>,
): Promise<void> {
  const detections = assetIds.length === 0 ? [] : await selectWithCurrentPorts(tx, { ids: assetIds });
  if (detections.length === 0) return;
  const ports = hostPorts ?? (await lockPorts(tx, [...new Set(detections.map(({ asset_id }) => asset_id))]));
  const keys = detections.map(({ observation }) => observation.slice(CURRENT_PORTS.length));
  const texts = await loadPortSets(tx, organizationId, keys);
  const stored = detections.map(({ asset_id, observation }, index) => {
    const text = packCurrentPorts(texts.get(keys[index] ?? '') ?? '{}', ports.get(asset_id) ?? []);
    return { assetId: asset_id, text, name: observationName(text), before: observation };
  });
  await insertObservations(
    tx,
    stored.flatMap(({ assetId, text, name }) => (name === text ? [] : [[assetId, name, text]])),
  );
  const renames = stored.map(({ assetId, name, before }) => [assetId, name, before]);
  await sql`update host_detections set observation = ${itemText(1)} from ${jsonRowsTable(tx, renames)}
    where asset_id = ${itemInteger(0)} and observation = ${itemText(2)}`.execute(tx);
}

const selectWithCurrentPorts = prepareQuery<
  { ids: readonly number[] },
  { asset_id: number; observation: string }
>((db, p) =>
  db
    .selectFrom('host_detections')
    .select(['asset_id', 'observation'])
    .distinct()
    .where((eb) => inList(db, eb.ref('asset_id'), p.ids))
    .where(sql<boolean>`substr(observation, 1, 1) = ${sql.lit(CURRENT_PORTS)}`),
);

/** Stores the ports of a host that no stored scan explains, at the newest of their times. */
export async function storeBaseline(
  tx: Transaction,
  assetId: number,
  baseline: PortBaseline,
  firstPort = 0,
): Promise<void> {
  const seenAt = Math.max(...baseline.baseline.map(({ last_seen }) => last_seen));
  const key = { assetId, seenAt, importId: 0, part: partOf(BASELINE_RECORD, firstPort) };
  await insertTexts(tx, [{ key, text: packBaseline(baseline) }]);
}

async function insertTexts(
  tx: Transaction,
  texts: readonly { key: DetectionKey; text: string; name?: string }[],
): Promise<void> {
  // One statement on PostgreSQL may not change a row twice.
  const rows = new Map<string, (string | number)[]>();
  const observations = new Map<string, (string | number)[]>();
  for (const { key, text, name = observationName(text) } of texts) {
    const { assetId, seenAt, importId, part } = key;
    rows.set(`${assetId} ${seenAt} ${importId} ${part}`, [assetId, seenAt, importId, part, name]);
    if (name !== text) observations.set(`${assetId} ${name}`, [assetId, name, text]);
  }
  await insertObservations(tx, [...observations.values()]);
  await insertDetections(tx, [...rows.values()]);
}

/** Selects the time and the import of the newest detection of each host. */
export const selectNewestDetections = prepareQuery<
  { ids: readonly number[] },
  { asset_id: number; seen_at: number; import_id: number }
>((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('assets')
        .select([
          'id as asset_id',
          sql<number>`(select max(seen_at) from host_detections where asset_id = assets.id)`.as('seen_at'),
        ])
        .where(({ ref }) => inList(db, ref('id'), p.ids))
        .as('newest'),
    )
    .select([
      'asset_id',
      'seen_at',
      sql<number>`(select max(import_id) from host_detections as last
        where last.asset_id = newest.asset_id and last.seen_at = newest.seen_at)`.as('import_id'),
    ])
    .where('seen_at', 'is not', null),
);

/** Counts the detections of each host. */
export const countDetections = prepareQuery<{ ids: readonly number[] }, { asset_id: number; count: number }>(
  (db, p) =>
    db
      .selectFrom('host_detections')
      .select(({ fn }) => ['asset_id', fn.countAll<number>().as('count')])
      .where((eb) => inList(db, eb.ref('asset_id'), p.ids))
      .groupBy('asset_id'),
);

const PAGE_SIZE = 20;

/**
 * Yields the detections of a host in the order of their times.
 * @param numbers only the observations of this chunk of the port numbers, and those of all ports
 */
export async function* readDetections(
  tx: Transaction,
  organizationId: number,
  assetId: number,
  numbers?: PortNumberRange,
): AsyncGenerator<{ key: DetectionKey; stored: StoredObservation | PortBaseline }> {
  const portSets = new Map<string, ScannedPorts>();
  // Holds the observations of the previous page: most scans observe the same as the scan before.
  let cache = new Map<string, StoredObservation | PortBaseline>();
  let after = { seenAt: Number.MIN_SAFE_INTEGER, importId: 0, part: 0 };
  for (;;) {
    const { rows } = await sql<{ seen_at: number; import_id: number; part: number; observation: string }>`
      select seen_at, import_id, part, observation from host_detections
      where asset_id = ${assetId} and (seen_at, import_id, part) > (${after.seenAt}, ${after.importId}, ${after.part})
        and ${numbers === undefined ? sql`true` : sql`part % 65536 in (0, ${numbers.first})`}
      order by seen_at, import_id, part limit ${PAGE_SIZE}`.execute(tx);
    const missing = [...new Set(rows.map(({ observation }) => observation))].filter(
      (name) => !cache.has(name),
    );
    const texts = await loadTexts(tx, assetId, missing);
    await loadScannedPorts(tx, organizationId, portSets, texts.values());
    const page = new Map<string, StoredObservation | PortBaseline>();
    for (const { seen_at, import_id, part, observation } of rows) {
      const stored =
        page.get(observation) ??
        cache.get(observation) ??
        unpackObservation(texts.get(observation) ?? '{}', portSets);
      page.set(observation, stored);
      yield { key: { assetId, seenAt: seen_at, importId: import_id, part }, stored };
    }
    cache = page;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_SIZE) return;
    after = { seenAt: last.seen_at, importId: last.import_id, part: last.part };
  }
}

async function loadTexts(
  tx: Transaction,
  assetId: number,
  names: readonly string[],
): Promise<Map<string, string>> {
  const texts = new Map(names.filter((name) => !name.startsWith('#')).map((name) => [name, name]));
  const stored = names.filter((name) => name.startsWith('#'));
  if (stored.length === 0) return texts;
  const rows = await tx
    .selectFrom('host_observations')
    .select(['name', 'observation'])
    .where('asset_id', '=', assetId)
    .where((eb) => inList(tx, eb.ref('name'), stored))
    .execute();
  for (const { name, observation } of rows) texts.set(name, observation);
  return texts;
}

async function loadScannedPorts(
  tx: Transaction,
  organizationId: number,
  portSets: Map<string, ScannedPorts>,
  texts: Iterable<string>,
): Promise<void> {
  const names = new Set<string>();
  for (const text of texts) {
    const name = scannedPortsKey(text);
    if (name !== undefined && !portSets.has(name)) names.add(name);
  }
  for (const [name, ports] of await loadPortSets(tx, organizationId, names))
    portSets.set(name, scannedPortsFromText(ports));
}

/** Deletes the detections of hosts by an import. Derive their ports afterwards. */
export async function deleteDetections(
  tx: Transaction,
  importId: number,
  assetIds: readonly number[],
): Promise<void> {
  await tx
    .deleteFrom('host_detections')
    .where('import_id', '=', importId)
    .where((eb) => inList(tx, eb.ref('asset_id'), assetIds))
    .execute();
  await tx
    .deleteFrom('host_observations')
    .where((eb) => inList(tx, eb.ref('asset_id'), assetIds))
    .where(
      sql<boolean>`not exists (select 1 from host_detections as seen
        where seen.asset_id = host_observations.asset_id and seen.observation = host_observations.name)`,
    )
    .execute();
}
