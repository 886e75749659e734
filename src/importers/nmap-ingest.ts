import type { Actor } from '../auth/callers.ts';
import type { Database } from '../db/engine.ts';
import { type ImportedHost, putHostScans, type ScannedHost } from '../domain/assets/host-scans.ts';
import { PortCoverage } from '../domain/assets/port-observations.ts';
import type { ReportPiece } from './formats/nmap/nmap-pieces.ts';

/** What a unit of work may hold, so that it keeps a server that writes to the same database waiting only for moments. */
const MAX_PORTS = 2_000;
const MAX_HOSTS = 1_000;

export interface ImportTarget {
  db: Database;
  /** Who imports. The clock tells when each piece is written. */
  actor: Actor;
  organizationId: number;
  clock: () => number;
}

export interface ImportSummary {
  hosts: { created: number; updated: number; unchanged: number; down: number };
  /** How many ports the report lists by state, of the hosts that were imported. */
  ports: Record<string, number>;
  /** Known ports that are closed now and were not before. */
  markedClosed: number;
  bytes: number;
  seconds: number;
}

interface ImportResult {
  summary: ImportSummary;
  /** Why the import ended early; what the summary counts is kept all the same. */
  failure?: unknown;
}

/**
 * Writes the hosts of a report to the assets of an organization, as they come in, a bounded number at a time.
 * @param progress told how many bytes and hosts are done
 * @param imported told of the hosts that were up, each time that some are written; one that the report lists again is told
 *   again. The import goes on when it resolves
 * @returns what was done, also when the report or the database failed on the way
 */
export async function importReport(
  { db, actor, organizationId, clock }: ImportTarget,
  pieces: AsyncIterable<ReportPiece>,
  progress: (bytes: number, hosts: number) => void = () => undefined,
  imported: (hosts: readonly ImportedHost[]) => Promise<void> = async () => undefined,
): Promise<ImportResult> {
  const started = performance.now();
  const summary: ImportSummary = {
    hosts: { created: 0, updated: 0, unchanged: 0, down: 0 },
    ports: {},
    markedClosed: 0,
    bytes: 0,
    seconds: 0,
  };
  let batch = new Map<string, ScannedHost>();
  let ports = 0;
  let read = 0;
  let ranges: ReportPiece['coverage'] = [];
  let coverage = new PortCoverage(ranges);
  const flush = async (): Promise<void> => {
    const hosts = [...batch.values()];
    batch = new Map();
    ports = 0;
    if (hosts.length === 0) return;
    const outcome = await db.write((tx) =>
      putHostScans(tx, { actor, now: clock() }, organizationId, coverage, hosts),
    );
    summary.hosts.created += outcome.created;
    summary.hosts.updated += outcome.updated;
    summary.hosts.unchanged += outcome.unchanged;
    summary.markedClosed += outcome.closedPorts;
    for (const host of hosts) {
      for (const { state } of host.ports) summary.ports[state] = (summary.ports[state] ?? 0) + 1;
    }
    await imported(outcome.hosts);
  };

  let failure: unknown;
  try {
    try {
      for await (const piece of pieces) {
        if (piece.coverage !== ranges) {
          await flush();
          ranges = piece.coverage;
          coverage = new PortCoverage(ranges);
        }
        for (const host of piece.hosts) {
          // Some tools list a host once for each port.
          if (batch.has(host.address)) await flush();
          batch.set(host.address, host);
          ports += host.ports.length;
          if (ports >= MAX_PORTS || batch.size >= MAX_HOSTS) await flush();
        }
        read += piece.hosts.filter(({ down }) => down !== true).length;
        summary.hosts.down = piece.down;
        summary.bytes = piece.bytes;
        progress(piece.bytes, read);
      }
    } finally {
      await flush();
    }
  } catch (error) {
    failure = error;
  }
  summary.seconds = Math.round(performance.now() - started) / 1_000;
  return failure === undefined ? { summary } : { summary, failure };
}
