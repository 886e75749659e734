import { hash } from 'node:crypto';
import { openSpoolFile, type SpoolStatement } from '../../db/scratch-database.ts';
import type { Cover, SightedAsset, Sighting } from '../../domain/imports/sighting.ts';
import { severityRank } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import type { ExploitableLocation } from '../../domain/vulnerabilities/exploitable-locations.ts';
import { MAX_LOCATIONS, mergeFindings, type SettledFinding } from '../normalize-finding.ts';
import { columnsOf, contentOf, cutToLimit, packed, settledOf, severityOf, wasCut } from './finding-codec.ts';

/** So many instances of a finding are looked at whole; of later ones the location, the time and the severity count. */
const MERGED = 20;

/** Who a finding is, beside what is said of it. */
export interface SpooledHead {
  identity: string;
  source: string;
  asset: SightedAsset | null;
  cover: Cover | null;
  /** Milliseconds since 1970; `null` where only the report has a time. */
  seenAt: number | null;
}

type Kept = [
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
export type SpoolPlace = number | string;

/** A finding as it was spooled. */
export interface Spooled {
  /** In the order of the report. */
  number: number;
  /** Whether a part of it was left out. */
  cut: boolean;
  sighting: Sighting;
}

const INSTANCE = 'identity, head, rank, seen, located, content, cut, size, body';
const FINDING =
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
  readonly #file = openSpoolFile(TABLES);
  readonly #insert = this.#file.prepare(
    `insert into instances (${INSTANCE}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  add({ identity, source, asset, cover, seenAt }: SpooledHead, finding: SettledFinding): void {
    const rank = severityRank(finding.severity);
    const body = cutToLimit(rank, packed(finding));
    const { located } = finding;
    const head = headOf(source, asset, cover);
    const content = contentOf(rank, body, located);
    this.#insert.run(identity, head, rank, seenAt, located, content, wasCut(body) ? 1 : 0, body.length, body);
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
  read(after: SpoolPlace, limit: number, reportAt: number): Spooled[] {
    const rows = (typeof after === 'number' ? this.#inOrder() : this.#sorted).all<Kept>(after, limit);
    // What they say is read together, once it is asked for: of findings that are known and the same, nobody does.
    let bodies: Map<number, string> | undefined;
    const bodyOf = (number: number): string =>
      (bodies ??= this.#bodiesOf(read.map((spooled) => spooled.number))).get(number) as string;
    const read: Spooled[] = [];
    let size = 0;
    for (const row of rows) {
      size += row[11];
      // A unit of work has so many, and no more than that in all.
      if (size > MAX_READ && read.length > 0) break;
      read.push(this.#spooledOf(row, reportAt, bodyOf));
    }
    return read;
  }

  readonly #sorted = this.#file.prepare(
    `select ${FINDING} from findings where identity > ? order by identity limit ?`,
  );
  #ordered: SpoolStatement | undefined;

  /** Mostly nobody asks for this order. */
  #inOrder(): SpoolStatement {
    if (this.#ordered === undefined) {
      this.#file.prepare('create index in_order on findings (first)').run();
      this.#ordered = this.#file.prepare(
        `select ${FINDING} from findings where first > ? order by first limit ?`,
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

  #spooledOf(row: Kept, reportAt: number, bodyOf: (number: number) => string): Spooled {
    const [number, identity, instances, , rank, first, last, untimed] = row;
    const said = instances === 1 ? saidOnce(row, bodyOf) : this.#saidOften(row);
    const [source, type, location, key, host, ports] = JSON.parse(said.head) as Head;
    const { located, content, body } = said;
    return {
      number,
      cut: said.cut,
      sighting: {
        identity,
        source,
        asset: type === null ? null : { type, location },
        cover: key === null ? null : { key, host, ports },
        firstSeenAt: untimed === 1 ? Math.min(first ?? reportAt, reportAt) : (first ?? reportAt),
        seenAt: untimed === 1 ? Math.max(last ?? reportAt, reportAt) : (last ?? reportAt),
        content,
        severity: severityOf(rank),
        columns: () => columnsOf(rank, body(), located),
      },
    };
  }

  /** Puts together what the instances of a finding say. */
  #saidOften([number, identity, instances, , rank]: Kept): Said {
    let merged: SettledFinding | undefined;
    let head = '';
    let located = 0;
    const locations: ExploitableLocation[] = [];
    this.#file.prepare('delete from located').run();
    for (let after = number - 1, index = 0; index < instances;) {
      const rows = this.#instancesOf.all<[seq: number, head: string, body: string]>(identity, after);
      for (const [seq, headOfIt, body] of rows) {
        const settled = settledOf(rank, body);
        for (const location of settled.locations) {
          const digest = hash('sha1', JSON.stringify(location), 'base64').slice(0, 16);
          if (this.#locate.run(digest) === 0) continue;
          located += 1;
          if (located <= MAX_LOCATIONS) locations.push(location);
        }
        if (merged === undefined) [merged, head] = [settled, headOfIt];
        else if (index < MERGED) merged = mergeFindings(merged, settled);
        after = seq;
        index += 1;
      }
    }
    const body = cutToLimit(rank, packed({ ...(merged as SettledFinding), locations }));
    return { head, located, content: contentOf(rank, body, located), cut: wasCut(body), body: () => body };
  }

  readonly #instancesOf = this.#file.prepare(
    `select seq, head, body from instances where identity = ? and seq > ? order by seq limit ${MERGED}`,
  );
}

/** What is said of a finding in all. */
interface Said {
  head: string;
  /** How many locations it has, kept or not. */
  located: number;
  content: string;
  cut: boolean;
  body: () => string;
}

function saidOnce(
  [number, , , head, , , , , located, content, cut]: Kept,
  bodyOf: (number: number) => string,
): Said {
  return { head, located, content, cut: cut === 1, body: () => bodyOf(number) };
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
