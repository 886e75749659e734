import { openScratchDatabase } from '../../db/scratch-database.ts';
import { ALL_CHECKS, scanScopeKeyOfChecks, type CoveredChecks } from '../../domain/imports/scan-scopes.ts';
import { portSetKey } from '../../domain/assets/port-sets.ts';
import type { ScanScopeKey, AssetLocation } from '../../domain/imports/finding-detections.ts';
import type { FindingHeader } from './finding-codec.ts';
import { FindingSpool } from './finding-spool.ts';
import { HostSpool } from './host-spool.ts';
import type { NormalizedFinding } from '../normalize-finding.ts';

/** Distinct long port lists that a report may cover. */
const MAX_PORT_SETS = 100;

/** Hosts in memory; further ones are in the file. */
const MAX_KNOWN_HOSTS = 50_000;

/**
 * Holds a report's findings, scan scope and scattered hosts until it is read completely: in a file, so that a million
 * findings need no memory.
 */
export class ReportSpool {
  readonly findings = new FindingSpool();
  readonly hosts = new HostSpool();
  readonly #file = openScratchDatabase([
    `create table covered (source text not null, ports text not null, key text not null, host text, primary key (source, ports, key)) without rowid`,
    `create table sources (source text primary key) without rowid`,
    `create table checks (source text not null, checks text not null, primary key (source, checks)) without rowid`,
    `create table untested (identity text primary key) without rowid`,
    `create table remembered (name text primary key) without rowid`,
    `create table repeats (address text primary key, records integer not null) without rowid`,
  ]);
  readonly #insertScanScope = this.#file.prepare('insert or ignore into covered values (?, ?, ?, ?)');
  readonly #insertSource = this.#file.prepare('insert or ignore into sources values (?)');
  readonly #insertChecks = this.#file.prepare('insert or ignore into checks values (?, ?)');
  readonly #insertUntested = this.#file.prepare('insert or ignore into untested values (?)');
  readonly #isUntested = this.#file.prepare('select 1 from untested where identity = ?');
  readonly #remember = this.#file.prepare('insert or ignore into remembered values (?)');
  readonly #countRecord = this.#file.prepare(
    `insert into repeats values (?, 1) on conflict (address) do update set records = records + 1 returning records`,
  );
  /** Hosts whose first record is counted here; the file counts the others. */
  readonly #countedHosts = new Set<string>();
  readonly #sources = new Set<string>();
  readonly #checks = new Set<string>();
  readonly #hosts = new Set<string>();
  /** Long port lists by their keys. */
  readonly #portLists = new Map<string, string>();

  add(header: FindingHeader, finding: NormalizedFinding): void {
    this.findings.add(header, finding);
    this.addSource(header.source);
  }

  /** Records the checks that a source ran, and the scan scope that it scanned completely, if any. */
  addScanScope(source: string, scanScope: ScanScopeKey | null, checks: CoveredChecks): void {
    if (checks === 'all') {
      if (scanScope !== null)
        this.#addScanScope(source, { ...scanScope, key: `${ALL_CHECKS}|${scanScope.key}` });
      return;
    }
    for (const group of checks ?? ['']) {
      this.addChecks(source, group);
      if (scanScope !== null)
        this.#addScanScope(source, { ...scanScope, key: scanScopeKeyOfChecks(group, scanScope.key) });
    }
  }

  #addScanScope(source: string, { key, host, ports }: ScanScopeKey): void {
    this.addSource(source);
    const portsKey = portSetKey(ports);
    if (portsKey !== ports && !this.#portLists.has(portsKey)) {
      // A scan has one port list. Findings that only further lists cover do not become gone.
      if (this.#portLists.size >= MAX_PORT_SETS) return;
      this.#portLists.set(portsKey, ports);
    }
    this.#insertScanScope.run(source, portsKey, key, host);
  }

  /** Records that a group of checks of a source ran; `''` for checks without a group. */
  addChecks(source: string, checks: string): void {
    const key = `${source} ${checks}`;
    if (this.#checks.has(key)) return;
    if (this.#checks.size < 1_000) this.#checks.add(key);
    this.#insertChecks.run(source, checks);
  }

  /** @returns the groups of checks that ran */
  readChecks(source: string): string[] {
    return this.#file
      .prepare('select checks from checks where source = ? order by checks')
      .all<[string]>(source)
      .map(([checks]) => checks);
  }

  /** Records a finding that the report did not test, so that it may still exist. */
  addUntested(identity: string): void {
    this.#insertUntested.run(identity);
  }

  isUntested(identity: string): boolean {
    return this.#isUntested.first(identity) !== undefined;
  }

  /** @returns the identities of the next untested findings */
  readUntested(after: string, limit: number): string[] {
    return this.#file
      .prepare('select identity from untested where identity > ? order by identity limit ?')
      .all<[string]>(after, limit)
      .map(([identity]) => identity);
  }

  addSource(source: string): void {
    if (this.#sources.has(source)) return;
    if (this.#sources.size < 1_000) this.#sources.add(source);
    this.#insertSource.run(source);
  }

  readSources(): string[] {
    return this.#file
      .prepare('select source from sources order by source')
      .all<[string]>()
      .map(([source]) => source);
  }

  /** @returns the next scan scope rows by source and ports */
  readScanScopes(
    after: readonly [source: string, ports: string, key: string],
    limit: number,
  ): { cursor: [string, string, string]; source: string; key: ScanScopeKey }[] {
    return this.#file
      .prepare(
        `select source, ports, key, host from covered where (source, ports, key) > (?, ?, ?)
          order by source, ports, key limit ?`,
      )
      .all<[string, string, string, string | null]>(...after, limit)
      .map(([source, portsKey, key, host]) => ({
        cursor: [source, portsKey, key],
        source,
        key: { key, host, ports: this.#portLists.get(portsKey) ?? portsKey },
      }));
  }

  /** Records a host; some tools write a record per port. @returns whether it is new */
  addHost(address: string): boolean {
    if (this.#hosts.has(address)) return false;
    if (this.#hosts.size < MAX_KNOWN_HOSTS) this.#hosts.add(address);
    else return this.#remember.run(`seen ${address}`) > 0;
    return true;
  }

  /** Counts the records of a host. @returns their number so far */
  countRecord(address: string): number {
    if (this.#countedHosts.size < MAX_KNOWN_HOSTS && !this.#countedHosts.has(address)) {
      this.#countedHosts.add(address);
      return 1;
    }
    const counted = this.#countRecord.first(address)?.[0];
    return Number(counted) + (this.#countedHosts.has(address) ? 1 : 0);
  }

  /** Records an asset that the import creates. @returns whether it is new */
  addCreatedAsset({ type, location }: AssetLocation): boolean {
    return this.#remember.run(`${type} ${location}`) > 0;
  }

  /** Records an asset that the import changes. @returns whether it is new, and the import did not create it */
  addUpdatedAsset(asset: AssetLocation): boolean {
    return this.addCreatedAsset(asset);
  }

  /** Records an asset that the assessment does not list. @returns whether it is new */
  addOutsideAsset({ type, location }: AssetLocation): boolean {
    return this.#remember.run(`outside ${type} ${location}`) > 0;
  }

  /** Records a host that the import may not change. @returns whether it is new */
  addDeniedHost(address: string): boolean {
    return this.#remember.run(`denied ${address}`) > 0;
  }

  close(): void {
    this.findings.close();
    this.hosts.close();
    this.#file.close();
  }
}
