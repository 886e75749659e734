import { hash } from 'node:crypto';
import { openScratchDatabase, type ScratchStatement } from '../../db/scratch-database.ts';
import type { CoverageKey, AssetLocation, Sighting } from '../../domain/imports/sighting.ts';
import { severityRank } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import type { ExploitableLocation } from '../../domain/vulnerabilities/exploitable-locations.ts';
import { MAX_STORED_LOCATIONS, mergeFindings, type NormalizedFinding } from '../normalize-finding.ts';
import {
  toColumns,
  hashContent,
  truncateToLimit,
  encodeFinding,
  decodeFinding,
  severityOfRank,
  isTruncated,
} from './finding-codec.ts';

/** So many instances of a finding are looked at whole; of later ones the location, the time and the severity count. */
const MAX_MERGED_INSTANCES = 20;

/** Who a finding is, beside what is said of it. */
export interface FindingHeader {
  identity: string;
  source: string;
  asset: AssetLocation | null;
  coverage: CoverageKey | null;
  /** Milliseconds since 1970; `null` where only the report has a time. */
  seenAt: number | null;
}

type SpooledGroupRow = [
  first: number,
  identity: string,
  instances: number,
  head: string,
  rank: number,
  firstSeen: number | null,
  lastSeen: number | null,
  untimed: number,
  located: number,
  content: string,
  cut: number,
  size: number,
];

/** Where a reading of the spool goes on: behind a number in the order of the report, or behind an identity in theirs. */
export type SpoolCursor = number | string;

/** A finding as it was spooled. */
export interface SpooledFinding {
  /** In the order of the report. */
  sequence: number;
  /** Whether a part of it was left out. */
  isTruncated: boolean;
  sighting: Sighting;
}

const INSTANCE_COLUMNS = 'identity, head, rank, seen, located, content, cut, size, body';
const FINDING_COLUMNS =
  'first, identity, instances, head, rank, first_seen, last_seen, untimed, located, content, cut, size';

const TABLES = [
  `create table instances (seq integer primary key, identity text not null, head text not null, rank int not null,
    seen int, located int not null, content text not null, cut int not null, size int not null, body text not null)`,
  // `first`: the number of its first instance; `untimed`: whether one has no time of its own. Head, located,
  // content and cut hold only where there is one instance.
  `create table findings (identity text primary key, first int not null, instances int not null, head text not null,
    rank int not null, first_seen int, last_seen int, untimed int not null, located int not null, content text not null,
    cut int not null, size int not null) without rowid`,
  `create table located (digest text primary key) without rowid`,
];

/**
 * The findings of a report. Its instances are kept one behind the other, as they lie anywhere in a report, and then grouped
 * into findings in one sort: looked up one by one, a million would each need another page.
 */
export class FindingSpool {
  readonly #file = openScratchDatabase(TABLES);
  readonly #insert = this.#file.prepare(
    `insert into instances (${INSTANCE_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  readonly #bodies = this.#file.prepare(
    'select seq, body from instances where seq in (select value from json_each(?))',
  );
  readonly #find = this.#file.prepare('select 1 from findings where identity = ?');
  readonly #locate = this.#file.prepare('insert or ignore into located values (?)');
  #count = 0;
  #newest: number | null = null;

  /** Findings; instances of them until these are grouped. */
  get count(): number {
    return this.#count;
  }

  /** The time of the newest instance, in milliseconds since 1970; `null` where none has one. */
  get newest(): number | null {
    return this.#newest;
  }

  /** Adds an instance of a finding. */
  add({ identity, source, asset, coverage, seenAt }: FindingHeader, finding: NormalizedFinding): void {
    const rank = severityRank(finding.severity);
    const body = truncateToLimit(rank, encodeFinding(finding));
    const { locationCount } = finding;
    const head = encodeHeader(source, asset, coverage);
    const content = hashContent(rank, body, locationCount);
    this.#insert.run(
      identity,
      head,
      rank,
      seenAt,
      locationCount,
      content,
      isTruncated(body) ? 1 : 0,
      body.length,
      body,
    );
    this.#count += 1;
    if (seenAt !== null && seenAt > (this.#newest ?? -Infinity)) this.#newest = seenAt;
  }

  /** Groups the instances into findings, once all are there: what is read, counted and asked for is then findings. */
  group(): void {
    this.#count = this.#file
      .prepare(
        `insert into findings select identity, min(seq), count(*), head, max(rank), min(seen), max(seen),
          count(*) > count(seen), located, content, cut, sum(size) from instances group by identity`,
      )
      .run();
    if (this.#file.prepare('select 1 from findings where instances > 1 limit 1').first() !== undefined)
      this.#file.prepare('create index instances_of on instances (identity, seq)').run();
    this.#file.prepare('pragma shrink_memory').run();
  }

  has(identity: string): boolean {
    return this.#find.first(identity) !== undefined;
  }

  /**
   * Reads some findings.
   * @param after where the last reading ended; at first 0 for the order of the report, `''` for that of identities
   * @param reportAt when an instance was seen that has no time, in milliseconds since 1970
   */
  read(after: SpoolCursor, limit: number, reportAt: number): SpooledFinding[] {
    const rows = (typeof after === 'number' ? this.#inOrder() : this.#sorted).all<SpooledGroupRow>(
      after,
      limit,
    );
    // What they say is read together, once it is asked for: of findings that are known and the same, nobody does.
    let bodies: Map<number, string> | undefined;
    const bodyOf = (number: number): string =>
      (bodies ??= this.#bodiesOf(read.map((spooled) => spooled.sequence))).get(number) as string;
    const read: SpooledFinding[] = [];
    let size = 0;
    for (const row of rows) {
      size += row[11];
      // A unit of work has so many, and no more than that in all.
      if (size > MAX_READ_CHARACTERS && read.length > 0) break;
      read.push(this.#spooledOf(row, reportAt, bodyOf));
    }
    return read;
  }

  readonly #sorted = this.#file.prepare(
    `select ${FINDING_COLUMNS} from findings where identity > ? order by identity limit ?`,
  );
  #ordered: ScratchStatement | undefined;

  /** Mostly nobody asks for this order. */
  #inOrder(): ScratchStatement {
    if (this.#ordered === undefined) {
      this.#file.prepare('create index in_order on findings (first)').run();
      this.#ordered = this.#file.prepare(
        `select ${FINDING_COLUMNS} from findings where first > ? order by first limit ?`,
      );
    }
    return this.#ordered;
  }

  close(): void {
    this.#file.close();
  }

  #bodiesOf(numbers: readonly number[]): Map<number, string> {
    return new Map(this.#bodies.all<[number, string]>(JSON.stringify(numbers)));
  }

  #spooledOf(row: SpooledGroupRow, reportAt: number, bodyOf: (number: number) => string): SpooledFinding {
    const [sequence, identity, instances, , rank, first, last, untimed] = row;
    const said = instances === 1 ? singleInstance(row, bodyOf) : this.#saidOften(row);
    const [source, type, location, key, host, ports] = JSON.parse(said.header) as HeaderTuple;
    const { locationCount, contentHash, body } = said;
    return {
      sequence,
      isTruncated: said.isTruncated,
      sighting: {
        identity,
        source,
        asset: type === null ? null : { type, location },
        coverage: key === null ? null : { key, host, ports },
        firstSeenAt: untimed === 1 ? Math.min(first ?? reportAt, reportAt) : (first ?? reportAt),
        seenAt: untimed === 1 ? Math.max(last ?? reportAt, reportAt) : (last ?? reportAt),
        contentHash,
        severity: severityOfRank(rank),
        columns: () => toColumns(rank, body(), locationCount),
      },
    };
  }

  /** Puts together what the instances of a finding say. */
  #saidOften([number, identity, instances, , rank]: SpooledGroupRow): MergedFinding {
    let merged: NormalizedFinding | undefined;
    let header = '';
    let locationCount = 0;
    const locations: ExploitableLocation[] = [];
    this.#file.prepare('delete from located').run();
    for (let after = number - 1, index = 0; index < instances;) {
      const rows = this.#instancesOf.all<[seq: number, head: string, body: string]>(identity, after);
      for (const [seq, headOfIt, body] of rows) {
        const settled = decodeFinding(rank, body);
        for (const location of settled.locations) {
          const digest = hash('sha1', JSON.stringify(location), 'base64').slice(0, 16);
          if (this.#locate.run(digest) === 0) continue;
          locationCount += 1;
          if (locationCount <= MAX_STORED_LOCATIONS) locations.push(location);
        }
        if (merged === undefined) [merged, header] = [settled, headOfIt];
        else if (index < MAX_MERGED_INSTANCES) merged = mergeFindings(merged, settled);
        after = seq;
        index += 1;
      }
    }
    const body = truncateToLimit(rank, encodeFinding({ ...(merged as NormalizedFinding), locations }));
    return {
      header,
      locationCount,
      contentHash: hashContent(rank, body, locationCount),
      isTruncated: isTruncated(body),
      body: () => body,
    };
  }

  readonly #instancesOf = this.#file.prepare(
    `select seq, head, body from instances where identity = ? and seq > ? order by seq limit ${MAX_MERGED_INSTANCES}`,
  );
}

/** What is said of a finding in all. */
interface MergedFinding {
  header: string;
  /** How many locations it has, kept or not. */
  locationCount: number;
  contentHash: string;
  isTruncated: boolean;
  body: () => string;
}

function singleInstance(
  [number, , , header, , , , , locationCount, contentHash, cut]: SpooledGroupRow,
  bodyOf: (number: number) => string,
): MergedFinding {
  return { header, locationCount, contentHash, isTruncated: cut === 1, body: () => bodyOf(number) };
}

type HeaderTuple = [
  source: string,
  type: AssetLocation['type'] | null,
  location: string,
  key: string | null,
  host: string | null,
  ports: string,
];

function encodeHeader(source: string, asset: AssetLocation | null, cover: CoverageKey | null): string {
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
const MAX_READ_CHARACTERS = 4_000_000;
