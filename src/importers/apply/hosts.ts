import type { Database } from '../../db/engine.ts';
import type { ScannedHost } from '../../domain/assets/scans/apply-scans.ts';
import { PortCoverage, type PortRange } from '../../domain/assets/scans/diff-ports.ts';
import { replaceControlCharacters } from '../../domain/shared/names.ts';
import type { ImportJob, ImportResult } from '../../domain/imports/import-types.ts';
import { applyReportedHosts } from '../../domain/imports/apply-hosts.ts';
import type { ReportTime } from '../report-time.ts';
import type { SkipCounter } from '../skip-counter.ts';
import type { ReportSpool } from '../spool/report-spool.ts';
import { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';

/** Ports and hosts per transaction, so that other writers wait only briefly. */
const MAX_PORTS = 2_000;
const MAX_HOSTS = 1_000;

interface HostApplyContext {
  db: Database;
  job: ImportJob;
  clock: () => number;
  signal: AbortSignal;
  skips: SkipCounter;
  /** Counts are added here. */
  result: ImportResult;
  spool: ReportSpool;
}

type TimedHost = ScannedHost & { seenAt: number };

/** Applies the hosts of a report in batches, while it is read. */
export class HostApplier {
  readonly #run: HostApplyContext;
  readonly #writer: AdaptiveWriter;
  #coverage = new PortCoverage([]);
  #batch = new Map<string, TimedHost>();
  #ports = 0;

  constructor(run: HostApplyContext) {
    this.#run = run;
    const { dryRun } = run.job.options;
    this.#writer = new AdaptiveWriter(run.db, run.signal, { dryRun, size: MAX_PORTS, most: MAX_PORTS });
  }

  /** Sets the ports that the scan covered, for the hosts that follow. */
  async setCoverage(ranges: readonly PortRange[]): Promise<void> {
    await this.flush();
    this.#coverage = new PortCoverage(ranges);
  }

  /**
   * @param time supplies the time of a host without one
   * @returns a promise to await before the next call, if a batch is being written
   */
  add(host: ScannedHost, time: ReportTime): Promise<void> | undefined {
    const { job, skips } = this.#run;
    if (!job.canWriteAssets) {
      skips.add('no permission to change assets');
      return undefined;
    }
    const named = host.name === undefined ? {} : { name: replaceControlCharacters(host.name) };
    const timed = { ...host, ...named, seenAt: time.hostTime(host.seenAt) };
    const before = this.#batch.get(host.address);
    const merged = before === undefined ? timed : mergeHosts(before, timed);
    if (merged === undefined) return this.flush().then(() => this.#put(timed));
    return this.#put(merged, host.ports.length);
  }

  #put(host: TimedHost, ports = host.ports.length): Promise<void> | undefined {
    this.#batch.set(host.address, host);
    this.#ports += ports + 1;
    return this.#ports >= this.#writer.batchSize || this.#batch.size >= MAX_HOSTS ? this.flush() : undefined;
  }

  /** Writes the current batch. */
  async flush(): Promise<void> {
    const hosts = [...this.#batch.values()];
    const ports = this.#ports;
    this.#batch = new Map();
    this.#ports = 0;
    if (hosts.length === 0) return;
    const { job, clock, skips, result, spool } = this.#run;
    const applied = await this.#writer.write(ports, (tx) =>
      applyReportedHosts(tx, job, this.#coverage, hosts, clock()),
    );
    for (const location of applied.created) {
      // Dry runs roll back, so every batch reports the same asset as created: count it once.
      if (!job.options.dryRun || spool.addCreatedAsset({ type: 'host', location }))
        result.assets_created += 1;
    }
    result.assets_updated += applied.updated;
    result.ports_opened += applied.portsOpened;
    result.ports_closed += applied.portsClosed;
    for (let skipped = 0; skipped < applied.denied; skipped += 1)
      skips.add('no permission to change the host');
  }
}

/**
 * Merges two records of one host. Some tools write a record per port, in any order.
 * @returns `undefined` if a record covers more than single ports, or both contain the same port
 */
function mergeHosts(before: TimedHost, after: TimedHost): TimedHost | undefined {
  if ([before, after].some((host) => host.complete || host.down === true || host.unlistedStates.length > 0))
    return undefined;
  const known = new Set(before.ports.map(({ number, protocol }) => `${number}/${protocol}`));
  if (after.ports.some(({ number, protocol }) => known.has(`${number}/${protocol}`))) return undefined;
  return {
    ...before,
    name: before.name ?? after.name,
    seenAt: Math.max(before.seenAt, after.seenAt),
    ports: [...before.ports, ...after.ports],
  };
}
