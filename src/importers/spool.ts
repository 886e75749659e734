import { hash } from 'node:crypto';
import { openSpoolFile } from '../db/spool-file.ts';
import { nameOfPorts } from '../domain/imports/port-sets.ts';
import type { Cover, SightedAsset, Sighting } from '../domain/imports/sighting.ts';
import { severityRank } from '../domain/vulnerabilities/catalogue.ts';
import type { ExploitableLocation } from '../domain/vulnerabilities/locations.ts';
import { MAX_LOCATIONS, mergeFindings, type SettledFinding } from './settled-finding.ts';
import { packed, settledOf, toldOf } from './spooled-finding.ts';

/** So many instances of a finding are looked at whole; of later ones the location, the time and the severity count. */
const MERGED = 20;
/** So many different sets of ports a report may cover. */
const MAX_PORT_SETS = 100;

/** Who a finding is, beside what is said of it. */
export interface SpooledHead {
  identity: string;
  source: string;
  asset: SightedAsset | null;
  cover: Cover | null;
  /** Milliseconds since 1970; `null` where only the report has a time. */
  seenAt: number | null;
}

type Known = [seq: number, instances: number, locations: number, first: number | null, last: number | null];
type Kept = [
  seq: number,
  identity: string,
  head: string,
  rank: number,
  first: number | null,
  last: number | null,
  untimed: number,
  instances: number,
  locations: number,
  body: string,
];

/** Where a reading of the spool goes on: behind a number in the order of the report, or behind an identity in theirs. */
export type SpoolPlace = number | string;

/** A finding as it was spooled. */
export interface Spooled {
  /** In the order of the report. */
  number: number;
  /** Whether a part of it was left out. */
  cut: boolean;
  sighting: Sighting;
}

const WHOLE = 'seq, identity, head, rank, first, last, untimed, instances, locations, body';

/**
 * What a report tells of findings until it was read, one row a finding: its instances lie anywhere in a report. It is a
 * file, so that a million take no memory.
 */
export class Spool {
  readonly #file = openSpoolFile([
    // `untimed`: whether an instance has no time of its own.
    `create table findings (seq integer primary key, identity text not null unique, head text not null, rank int not null,
      first int, last int, untimed int not null, instances int not null, locations int not null, body text not null)`,
    `create table seen (seq int not null, digest text not null, primary key (seq, digest)) without rowid`,
    `create table kept (seq int not null, place int not null, location text not null, primary key (seq, place)) without rowid`,
    `create table covered (source text not null, ports text not null, key text not null, host text, primary key (source, ports, key)) without rowid`,
    `create table sources (source text primary key) without rowid`,
    `create table remembered (name text primary key) without rowid`,
  ]);
  readonly #find = this.#file.prepare(
    'select seq, instances, locations, first, last from findings where identity = ?',
  );
  readonly #insert = this.#file.prepare(
    `insert into findings (identity, head, rank, first, last, untimed, instances, locations, body)
      values (?, ?, ?, ?, ?, ?, 1, ?, ?) on conflict (identity) do nothing`,
  );
  readonly #raise = this.#file.prepare(
    `update findings set rank = max(rank, ?), first = ?, last = ?, untimed = max(untimed, ?), instances = instances + 1,
      locations = ? where seq = ?`,
  );
  readonly #bodyOf = this.#file.prepare('select rank, body from findings where seq = ?');
  readonly #rewrite = this.#file.prepare('update findings set body = ? where seq = ?');
  readonly #see = this.#file.prepare('insert or ignore into seen values (?, ?)');
  readonly #keep = this.#file.prepare('insert into kept values (?, ?, ?)');
  readonly #cover = this.#file.prepare('insert or ignore into covered values (?, ?, ?, ?)');
  readonly #source = this.#file.prepare('insert or ignore into sources values (?)');
  readonly #remember = this.#file.prepare('insert or ignore into remembered values (?)');
  readonly #sources = new Set<string>();
  /** Long texts of ports, by what stands for them. */
  readonly #ports = new Map<string, string>();
  #count = 0;

  /** Findings, each once. */
  get count(): number {
    return this.#count;
  }

  /** Adds an instance of a finding. */
  add(head: SpooledHead, finding: SettledFinding): void {
    const { identity, source, asset, cover, seenAt } = head;
    const added = this.#insert.run(
      identity,
      headOf(source, asset, cover),
      severityRank(finding.severity),
      seenAt,
      seenAt,
      seenAt === null ? 1 : 0,
      finding.located,
      packed(finding),
    );
    if (added === 0) {
      this.#merge(this.#find.first(identity) as Known, seenAt, finding);
      return;
    }
    this.#count += 1;
    this.addSource(source);
  }

  /** Says that something is covered whole by a tool. */
  cover(source: string, { key, host, ports }: Cover): void {
    this.addSource(source);
    const name = nameOfPorts(ports);
    if (name !== ports && !this.#ports.has(name)) {
      // A scan has one set of ports; of what has very many nothing is gone.
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

  sources(): string[] {
    return this.#file
      .prepare('select source from sources order by source')
      .all<[string]>()
      .map(([source]) => source);
  }

  /** @returns some of what is covered, by source and ports, behind `after` */
  covered(
    after: readonly [source: string, ports: string, key: string],
    limit: number,
  ): { place: [string, string, string]; source: string; cover: Cover }[] {
    return this.#file
      .prepare(
        `select source, ports, key, host from covered where (source, ports, key) > (?, ?, ?)
          order by source, ports, key limit ?`,
      )
      .all<[string, string, string, string | null]>(...after, limit)
      .map(([source, name, key, host]) => ({
        place: [source, name, key],
        source,
        cover: { key, host, ports: this.#ports.get(name) ?? name },
      }));
  }

  has(identity: string): boolean {
    return this.#find.first(identity) !== undefined;
  }

  /** @returns whether it is the first time that this asset is counted as made, by a dry run that makes none */
  countAsset({ type, location }: SightedAsset): boolean {
    return this.#remember.run(`${type} ${location}`) > 0;
  }

  /** @returns the time of the newest instance; `null` where none has one */
  newest(): number | null {
    const [newest = null] = this.#file.prepare('select max(last) from findings').first() ?? [];
    return newest as number | null;
  }

  /**
   * Reads some findings.
   * @param after where the last reading ended; at first 0 for the order of the report, `''` for that of identities
   * @param reportAt when an instance was seen that has no time, in milliseconds since 1970
   */
  read(after: SpoolPlace, limit: number, reportAt: number): Spooled[] {
    const rows = (typeof after === 'number' ? this.#read : this.#readSorted).all<Kept>(after, limit);
    const read: Spooled[] = [];
    let size = 0;
    for (const row of rows) {
      size += row[9].length;
      // A unit of work has so many, and no more than that in all.
      if (size > MAX_READ && read.length > 0) break;
      read.push(this.#spooledOf(row, reportAt));
    }
    return read;
  }

  readonly #read = this.#file.prepare(`select ${WHOLE} from findings where seq > ? order by seq limit ?`);
  readonly #readSorted = this.#file.prepare(
    `select ${WHOLE} from findings where identity > ? order by identity limit ?`,
  );
  readonly #keptOf = this.#file.prepare('select location from kept where seq = ? order by place');

  close(): void {
    this.#file.close();
  }

  #merge(
    [seq, instances, locations, first, last]: Known,
    seenAt: number | null,
    finding: SettledFinding,
  ): void {
    let count = locations;
    if (instances === 1) {
      const { locations: own } = this.#body(seq);
      count = this.#addLocations(seq, 0, own);
    }
    count = this.#addLocations(seq, count, finding.locations);
    if (instances < MERGED) {
      const merged = mergeFindings(this.#body(seq), finding);
      this.#rewrite.run(packed(merged), seq);
    }
    this.#raise.run(
      severityRank(finding.severity),
      earlier(first, seenAt, Math.min),
      earlier(last, seenAt, Math.max),
      seenAt === null ? 1 : 0,
      count,
      seq,
    );
  }

  #body(seq: number): SettledFinding {
    return settledOf(...(this.#bodyOf.first(seq) as [rank: number, body: string]));
  }

  /** @returns how many different ones there are then */
  #addLocations(seq: number, before: number, locations: readonly ExploitableLocation[]): number {
    let count = before;
    for (const location of locations) {
      const text = JSON.stringify(location);
      const digest = hash('sha1', text, 'base64').slice(0, 16);
      if (this.#see.run(seq, digest) === 0) continue;
      if (count < MAX_LOCATIONS) this.#keep.run(seq, count, text);
      count += 1;
    }
    return count;
  }

  #spooledOf(
    [number, identity, head, rank, first, last, untimed, instances, count, body]: Kept,
    reportAt: number,
  ): Spooled {
    const [source, type, location, key, host, ports] = JSON.parse(head) as Head;
    const kept = instances === 1 ? undefined : this.#keptOf.all<[string]>(number).map(([text]) => text);
    const { cut, content, finding } = toldOf(rank, body, count, kept);
    return {
      number,
      cut,
      sighting: {
        identity,
        source,
        asset: type === null ? null : { type, location },
        cover: key === null ? null : { key, host, ports },
        firstSeenAt: untimed === 1 ? Math.min(first ?? reportAt, reportAt) : (first ?? reportAt),
        seenAt: untimed === 1 ? Math.max(last ?? reportAt, reportAt) : (last ?? reportAt),
        content,
        finding,
      },
    };
  }
}

type Head = [
  source: string,
  type: SightedAsset['type'] | null,
  location: string,
  key: string | null,
  host: string | null,
  ports: string,
];

function headOf(source: string, asset: SightedAsset | null, cover: Cover | null): string {
  return JSON.stringify([
    source,
    asset?.type ?? null,
    asset?.location ?? null,
    cover?.key ?? null,
    cover?.host ?? null,
    cover?.ports ?? '',
  ]);
}

/** The most characters that are read at once. */
const MAX_READ = 4_000_000;

function earlier(
  one: number | null,
  other: number | null,
  of: (...values: number[]) => number,
): number | null {
  return one === null ? other : other === null ? one : of(one, other);
}
