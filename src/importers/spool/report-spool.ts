import { openScratchDatabase } from '../../db/scratch-database.ts';
import { portSetKey } from '../../domain/imports/port-sets.ts';
import type { CoverageKey, AssetLocation } from '../../domain/imports/sighting.ts';
import { FindingSpool, type FindingHeader } from './finding-spool.ts';
import type { NormalizedFinding } from '../normalize-finding.ts';

/** Distinct port lists that a report may cover. */
const MAX_PORT_SETS = 100;

/**
 * Holds a report's findings and coverage until it is read completely: in a file, so that a million findings need no
 * memory.
 */
export class ReportSpool {
  readonly findings = new FindingSpool();
  readonly #file = openScratchDatabase([
    `create table covered (source text not null, ports text not null, key text not null, host text, primary key (source, ports, key)) without rowid`,
    `create table sources (source text primary key) without rowid`,
    `create table remembered (name text primary key) without rowid`,
  ]);
  readonly #cover = this.#file.prepare('insert or ignore into covered values (?, ?, ?, ?)');
  readonly #source = this.#file.prepare('insert or ignore into sources values (?)');
  readonly #remember = this.#file.prepare('insert or ignore into remembered values (?)');
  readonly #sources = new Set<string>();
  /** Long port lists by their keys. */
  readonly #ports = new Map<string, string>();

  add(head: FindingHeader, finding: NormalizedFinding): void {
    this.findings.add(head, finding);
    this.addSource(head.source);
  }

  /** Records that a source covers something completely. */
  addCoverage(source: string, { key, host, ports }: CoverageKey): void {
    this.addSource(source);
    const name = portSetKey(ports);
    if (name !== ports && !this.#ports.has(name)) {
      // A scan has one port list. A report with very many marks nothing as gone.
      if (this.#ports.size >= MAX_PORT_SETS) return;
      this.#ports.set(name, ports);
    }
    this.#cover.run(source, name, key, host);
  }

  addSource(source: string): void {
    if (this.#sources.has(source)) return;
    if (this.#sources.size < 1_000) this.#sources.add(source);
    this.#source.run(source);
  }

  readSources(): string[] {
    return this.#file
      .prepare('select source from sources order by source')
      .all<[string]>()
      .map(([source]) => source);
  }

  /** @returns the next coverage rows by source and ports */
  readCoverage(
    after: readonly [source: string, ports: string, key: string],
    limit: number,
  ): { cursor: [string, string, string]; source: string; key: CoverageKey }[] {
    return this.#file
      .prepare(
        `select source, ports, key, host from covered where (source, ports, key) > (?, ?, ?)
          order by source, ports, key limit ?`,
      )
      .all<[string, string, string, string | null]>(...after, limit)
      .map(([source, name, key, host]) => ({
        cursor: [source, name, key],
        source,
        key: { key, host, ports: this.#ports.get(name) ?? name },
      }));
  }

  /** Records an asset that a dry run would create. @returns whether it is new */
  addCreatedAsset({ type, location }: AssetLocation): boolean {
    return this.#remember.run(`${type} ${location}`) > 0;
  }

  close(): void {
    this.findings.close();
    this.#file.close();
  }
}
