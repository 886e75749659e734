import type { Database } from '../../db/database.ts';
import type { ScannedHost, TimedRecord } from '../../domain/assets/scans/apply-scans.ts';
import { ScannedPorts, type PortRange } from '../../domain/assets/scans/diff-ports.ts';
import { replaceControlCharacters } from '../../domain/shared/names.ts';
import type { ImportJob, ImportResult } from '../../domain/imports/import-types.ts';
import { applyReportedHosts } from '../../domain/imports/apply-assets.ts';
import type { ReportTime, SkipCounter } from '../reading-state.ts';
import { isPartial } from '../spool/host-spool.ts';
import type { ReportSpool } from '../spool/report-spool.ts';
import { AdaptiveWriter } from '../../db/concurrency/adaptive-writer.ts';

/** Ports and hosts per transaction: few enough for short waits of other writers, enough to save commits. */
const FIRST_PORTS = 2_000;
const MAX_PORTS = 4_000;
const MAX_HOSTS = 1_000;
/** Maximum records per host. Each may have every port, and a change of the host may need all of them. */
const MAX_RECORDS_PER_HOST = 100;

interface HostApplyContext {
  db: Database;
  job: ImportJob;
  clock: () => number;
  signal: AbortSignal;
  skips: SkipCounter;
  /** Counts are added here. */
  result: ImportResult;
  spool: ReportSpool;
  /** Called after each transaction. */
  onWrite: () => void;
}

/**
 * Applies the hosts of a report in batches, each while the next one is read. Records of single ports are grouped by
 * host and applied at the end. A dry run, which rolls each batch back, groups all records, so that no batch depends on
 * an earlier one.
 */
export class HostApplier {
  readonly #run: HostApplyContext;
  readonly #writer: AdaptiveWriter;
  #scannedPorts = new ScannedPorts([]);
  #batch: TimedRecord[] = [];
  readonly #addresses = new Set<string>();
  #ports = 0;
  /** Ends when the last batch is written. */
  #writing: Promise<void> = Promise.resolve();

  constructor(run: HostApplyContext) {
    this.#run = run;
    const { db, signal, job, onWrite } = run;
    const { dryRun } = job.options;
    this.#writer = new AdaptiveWriter(db, signal, { dryRun, size: FIRST_PORTS, maxSize: MAX_PORTS, onWrite });
  }

  /** Sets the ports that the scan covered, for the hosts that follow. */
  setScannedPorts(ranges: readonly PortRange[]): void {
    this.#scannedPorts = new ScannedPorts(ranges);
  }

  /**
   * @param time supplies the time of a host without one
   * @returns a promise to await before the next call, if a batch is full
   * @throws the error of the batch before
   */
  add(host: ScannedHost, time: ReportTime): Promise<void> | undefined {
    const { job, skips, spool } = this.#run;
    if (!job.canWriteAssets) {
      skips.add('no permission to change assets');
      return undefined;
    }
    const cleanName = host.name === undefined ? {} : { name: replaceControlCharacters(host.name) };
    const coverage = host.complete ? { scannedPorts: this.#scannedPorts } : {};
    const record = { ...host, ...cleanName, ...coverage, seenAt: time.hostTime(host.seenAt) };
    if (isPartial(record)) {
      spool.hosts.add(record);
      return undefined;
    }
    const recordNumber = spool.countRecord(host.address);
    if (recordNumber > MAX_RECORDS_PER_HOST) {
      skips.add(`more than ${MAX_RECORDS_PER_HOST} records of one host`);
      return undefined;
    }
    if (!job.options.dryRun) return this.#put({ ...record, recordNumber });
    spool.hosts.add({ ...record, recordNumber });
    return undefined;
  }

  #put(record: TimedRecord): Promise<void> | undefined {
    this.#batch.push(record);
    this.#addresses.add(record.address);
    this.#ports += record.ports.length + 1;
    return this.#isFull() ? this.#flush() : undefined;
  }

  #isFull(): boolean {
    return this.#ports >= this.#writer.batchSize || this.#addresses.size >= MAX_HOSTS;
  }

  /** Applies the hosts that have been read. */
  async finish(): Promise<void> {
    await this.#flush();
    for (const record of this.#run.spool.hosts.read(MAX_PORTS, MAX_RECORDS_PER_HOST + 1)) {
      // All records of a host are in one batch.
      if (this.#isFull() && !this.#addresses.has(record.address)) await this.#flush();
      this.#batch.push(record);
      this.#addresses.add(record.address);
      this.#ports += record.ports.length + 1;
    }
    await this.#flush();
    await this.whenWritten();
  }

  /** Waits for the batch that is being written, and writes no other. */
  async whenWritten(): Promise<void> {
    await this.#writing;
  }

  /** Begins to write the batch once the one before is written. */
  async #flush(): Promise<void> {
    const records = this.#batch;
    const ports = this.#ports;
    this.#batch = [];
    this.#addresses.clear();
    this.#ports = 0;
    await this.whenWritten();
    this.#writing = this.#writeAll(records, ports);
    // The next wait throws it.
    this.#writing.catch(() => undefined);
  }

  async #writeAll(batch: readonly TimedRecord[], ports: number): Promise<void> {
    for (let records = batch; records.length > 0;) records = await this.#write(records, ports);
  }

  /** @returns the records to write next */
  async #write(records: readonly TimedRecord[], ports: number): Promise<TimedRecord[]> {
    const { job, clock, skips, result, spool } = this.#run;
    const applied = await this.#writer.write(ports, (tx) => applyReportedHosts(tx, job, records, clock()));
    // An asset counts once, however many of its records change it.
    for (const location of applied.created)
      if (spool.addCreatedAsset({ type: 'host', location })) result.assets_created += 1;
    for (const location of applied.updated)
      if (spool.addUpdatedAsset({ type: 'host', location })) result.assets_updated += 1;
    for (const location of applied.outside)
      if (spool.addOutsideAsset({ type: 'host', location })) result.assets_outside_scope += 1;
    result.ports_opened += applied.portsOpened;
    result.ports_closed += applied.portsClosed;
    for (const address of applied.denied)
      if (spool.addDeniedHost(address)) skips.add('no permission to change the host');
    return applied.deferred;
  }
}
