import { hash } from 'node:crypto';
import { openScratchDatabase, type ScratchStatement } from '../../db/scratch-database.ts';
import type { Detection } from '../../domain/imports/finding-detections.ts';
import { severityOfRank, severityRank } from '../../domain/shared/statuses-and-severities.ts';
import type { ExploitableLocation } from '../../domain/vulnerabilities/exploitable-locations.ts';
import { MAX_STORED_LOCATIONS, mergeFindings, type NormalizedFinding } from '../normalize-finding.ts';
import {
  toColumns,
  hashContent,
  truncateToLimit,
  encodeFinding,
  decodeFinding,
  isTruncated,
  decodeHeader,
  encodeHeader,
  type FindingHeader,
} from './finding-codec.ts';

/** Instances that are merged in full. Later ones contribute only location, time and severity. */
const MAX_MERGED_INSTANCES = 20;

/** The time of the report, and whether it is known. */
interface ReportMoment {
  reportAt: number;
  isTimeKnown: boolean;
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

/** Where the next read continues: after a sequence number in report order, or after an identity. */
export type SpoolCursor = number | string;

export interface SpooledFinding {
  /** Sequence number in the report. */
  sequence: number;
  isTruncated: boolean;
  detection: Detection;
}

const INSTANCE_COLUMNS = 'identity, head, rank, seen, located, content, cut, size, body';
const FINDING_COLUMNS =
  'first, identity, instances, head, rank, first_seen, last_seen, untimed, located, content, cut, size';

const TABLES = [
  `create table instances (seq integer primary key, identity text not null, head text not null, rank int not null,
    seen int, located int not null, content text not null, cut int not null, size int not null, body text not null)`,
  // `first`: sequence number of the first instance; `untimed`: whether an instance has no time of its own. `head`,
  // `located`, `content` and `cut` are valid only for a single instance.
  `create table findings (identity text primary key, first int not null, instances int not null, head text not null,
    rank int not null, first_seen int, last_seen int, untimed int not null, located int not null, content text not null,
    cut int not null, size int not null) without rowid`,
  `create table located (digest text primary key) without rowid`,
];

/**
 * The findings of a report. Instances can lie anywhere in a report, so they are appended first and then grouped by one
 * sort: a million lookups would each read a different page.
 */
export class FindingSpool {
  readonly #file = openScratchDatabase(TABLES);
  readonly #insert = this.#file.prepare(
    `insert into instances (${INSTANCE_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  readonly #selectBodies = this.#file.prepare(
    'select seq, body from instances where seq in (select value from json_each(?))',
  );
  readonly #selectFinding = this.#file.prepare('select 1 from findings where identity = ?');
  readonly #insertDigest = this.#file.prepare('insert or ignore into located values (?)');
  #count = 0;
  #newest: number | null = null;

  /** Number of findings; of instances before `group`. */
  get count(): number {
    return this.#count;
  }

  /** Time of the newest instance, in milliseconds since 1970; `null` if none has one. */
  get newest(): number | null {
    return this.#newest;
  }

  add({ identity, seenAt, ...header }: FindingHeader, finding: NormalizedFinding): void {
    const rank = severityRank(finding.severity);
    const body = truncateToLimit(rank, encodeFinding(finding));
    const { locationCount } = finding;
    const head = encodeHeader(header);
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

  /** Groups the instances into findings. Call it once, before `read` and `has`. */
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
    return this.#selectFinding.first(identity) !== undefined;
  }

  /**
   * Reads the next findings.
   * @param after the cursor of the last read; starts at 0 for report order, `''` for identity order
   * @param time for instances without one, in milliseconds since 1970
   */
  read(after: SpoolCursor, limit: number, time: ReportMoment): SpooledFinding[] {
    const rows = (typeof after === 'number' ? this.#inOrder() : this.#byIdentity).all<SpooledGroupRow>(
      after,
      limit,
    );
    // Bodies are read together and on demand: unchanged findings never need them.
    let bodies: Map<number, string> | undefined;
    const bodyOf = (number: number): string =>
      (bodies ??= this.#bodiesOf(findings.map((spooled) => spooled.sequence))).get(number) as string;
    const findings: SpooledFinding[] = [];
    let size = 0;
    for (const row of rows) {
      size += row[11];
      // Only the first finding of a batch may exceed the limit.
      if (size > MAX_READ_CHARACTERS && findings.length > 0) break;
      findings.push(this.#toSpooledFinding(row, time, bodyOf));
    }
    return findings;
  }

  readonly #byIdentity = this.#file.prepare(
    `select ${FINDING_COLUMNS} from findings where identity > ? order by identity limit ?`,
  );
  #byReportOrder: ScratchStatement | undefined;

  /** Created on demand: large imports read in identity order and need no such index. */
  #inOrder(): ScratchStatement {
    if (this.#byReportOrder === undefined) {
      this.#file.prepare('create index in_order on findings (first)').run();
      this.#byReportOrder = this.#file.prepare(
        `select ${FINDING_COLUMNS} from findings where first > ? order by first limit ?`,
      );
    }
    return this.#byReportOrder;
  }

  close(): void {
    this.#file.close();
  }

  #bodiesOf(numbers: readonly number[]): Map<number, string> {
    return new Map(this.#selectBodies.all<[number, string]>(JSON.stringify(numbers)));
  }

  #toSpooledFinding(
    row: SpooledGroupRow,
    { reportAt, isTimeKnown }: ReportMoment,
    bodyOf: (number: number) => string,
  ): SpooledFinding {
    const [sequence, identity, instances, , rank, first, last, untimed] = row;
    const merged = instances === 1 ? singleInstance(row, bodyOf) : this.#mergeInstances(row);
    const { source, asset, scanScope, tags, isTimeUnclear } = decodeHeader(merged.header);
    const { locationCount, contentHash, body } = merged;
    return {
      sequence,
      isTruncated: merged.isTruncated,
      detection: {
        identity,
        source,
        asset,
        scanScope,
        tags,
        isTimeKnown: !isTimeUnclear && (untimed === 0 || isTimeKnown),
        firstSeenAt: untimed === 1 ? Math.min(first ?? reportAt, reportAt) : (first ?? reportAt),
        seenAt: untimed === 1 ? Math.max(last ?? reportAt, reportAt) : (last ?? reportAt),
        contentHash,
        severity: severityOfRank(rank),
        columns: () => toColumns(rank, body(), locationCount),
      },
    };
  }

  #mergeInstances([number, identity, instances, , rank]: SpooledGroupRow): MergedFinding {
    let merged: NormalizedFinding | undefined;
    let header = '';
    let locationCount = 0;
    const locations: ExploitableLocation[] = [];
    this.#file.prepare('delete from located').run();
    for (let after = number - 1, index = 0; index < instances;) {
      const rows = this.#instancesOf.all<[seq: number, head: string, body: string]>(identity, after);
      for (const [seq, instanceHeader, body] of rows) {
        const instance = decodeFinding(rank, body);
        for (const location of instance.locations) {
          const digest = hash('sha1', JSON.stringify(location), 'base64').slice(0, 16);
          if (this.#insertDigest.run(digest) === 0) continue;
          locationCount += 1;
          if (locationCount <= MAX_STORED_LOCATIONS) locations.push(location);
        }
        // One time that is not understood makes that of the finding unclear.
        if (merged !== undefined && instanceHeader !== header && decodeHeader(instanceHeader).isTimeUnclear)
          header = instanceHeader;
        if (merged === undefined) [merged, header] = [instance, instanceHeader];
        else if (index < MAX_MERGED_INSTANCES) merged = mergeFindings(merged, instance);
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

interface MergedFinding {
  header: string;
  /** Number of reported locations, including those not stored. */
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

/** Characters per read. */
const MAX_READ_CHARACTERS = 4_000_000;
