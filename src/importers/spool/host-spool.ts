import { openScratchDatabase } from '../../db/scratch-database.ts';
import type { TimedRecord } from '../../domain/assets/scans/apply-scans.ts';
import {
  mergeObservedPorts,
  type ObservedPort,
  ScannedPorts,
  type PortRange,
} from '../../domain/assets/scans/diff-ports.ts';

/** Rows per read. */
const PAGE_SIZE = 500;
/** Stored in place of a port number for a record of a whole host. */
const WHOLE = -1;

type PortValues = [
  state: string,
  service: string | null,
  probed: boolean,
  banner: string | null,
  product: string | null,
  version: string | null,
  cpe: string | null,
];
type Row = [
  address: string,
  number: number,
  protocol: string,
  seenAt: number,
  sequence: number,
  portSet: number,
  record: string,
];

/** Groups the records of a report by host: in a file, so that a million hosts need no memory. */
export class HostSpool {
  readonly #file = openScratchDatabase([
    `create table records (address text not null, number integer not null, protocol text not null,
      seen_at integer not null, sequence integer not null, port_set integer not null, record text not null,
      primary key (address, number, protocol, seen_at, sequence)) without rowid`,
    `create table descriptions (address text primary key, name text, description text) without rowid`,
    `create table port_sets (id integer primary key, ranges text not null)`,
  ]);
  readonly #insert = this.#file.prepare('insert into records values (?, ?, ?, ?, ?, ?, ?)');
  readonly #insertDescription = this.#file.prepare('insert or ignore into descriptions values (?, ?, ?)');
  readonly #selectDescription = this.#file.prepare(
    'select name, description from descriptions where address = ?',
  );
  readonly #lastSeen = this.#file.prepare(
    'select max(seen_at) from records where address = ? and number >= 0',
  );
  readonly #portSetRanges = this.#file.prepare('select ranges from port_sets where id = ?');
  readonly #insertPortSet = this.#file.prepare('insert into port_sets values (?, ?)');
  #sequence = 0;
  #lastPortSetId = 0;
  #lastScannedPorts: ScannedPorts | undefined;

  add(record: TimedRecord): void {
    const { address, seenAt, name, description } = record;
    this.#sequence += 1;
    if (name !== undefined || description !== undefined)
      this.#insertDescription.run(address, name ?? null, description ?? null);
    if (!isPartial(record)) {
      const { scannedPorts, ...rest } = record;
      const portSetId = this.#addPortSet(scannedPorts);
      this.#insert.run(address, WHOLE, '', seenAt, this.#sequence, portSetId, JSON.stringify(rest));
      return;
    }
    for (const { number, protocol, state, service, probed, banner, product, version, cpe } of record.ports) {
      const values: PortValues = [state, service, probed, banner, product, version, cpe];
      this.#insert.run(address, number, protocol, seenAt, this.#sequence, 0, JSON.stringify(values));
    }
  }

  /** @returns the id of the port set, 0 without one; consecutive records with the same ports share it */
  #addPortSet(scannedPorts: ScannedPorts | undefined): number {
    if (scannedPorts === undefined) return 0;
    if (scannedPorts === this.#lastScannedPorts) return this.#lastPortSetId;
    this.#lastScannedPorts = scannedPorts;
    this.#lastPortSetId += 1;
    this.#insertPortSet.run(this.#lastPortSetId, JSON.stringify(scannedPorts.ranges));
    return this.#lastPortSetId;
  }

  /**
   * Yields the records host by host: first the records of the whole host, in the order of their times, then its partial
   * records, merged into one with the latest of their times, or into several if it has more than `maxPorts` ports.
   * @param maxPorts per record
   * @param firstRecordNumber the number of the first record with the ports of partial records
   */
  *read(maxPorts: number, firstRecordNumber: number): Generator<TimedRecord> {
    let ports: ObservedPort[] = [];
    let last: Row | undefined;
    let recordNumber = firstRecordNumber;
    const takePartialRecord = (address: string): TimedRecord => {
      const [name, description] = this.#selectDescription.first(address) ?? [];
      const described = {
        ...(typeof name === 'string' ? { name } : {}),
        ...(typeof description === 'string' ? { description } : {}),
      };
      const seenAt = Number(this.#lastSeen.first(address)?.[0]);
      const record = {
        address,
        ...described,
        ports,
        complete: false,
        unlistedStates: [],
        seenAt,
        recordNumber,
      };
      ports = [];
      recordNumber += 1;
      return record;
    };
    let scannedPorts: { id: number; value: ScannedPorts } | undefined;
    for (const row of this.#rows()) {
      const [address, number, protocol, , , portSetId, text] = row;
      const isSameHost = last?.[0] === address;
      const isSamePort = isSameHost && last?.[1] === number && last[2] === protocol;
      if (
        last !== undefined &&
        ports.length > 0 &&
        (!isSameHost || (!isSamePort && ports.length >= maxPorts))
      )
        yield takePartialRecord(last[0]);
      if (!isSameHost) recordNumber = firstRecordNumber;
      last = row;
      if (number === WHOLE) {
        if (portSetId !== 0 && scannedPorts?.id !== portSetId)
          scannedPorts = { id: portSetId, value: this.#readPortSet(portSetId) };
        yield {
          ...(JSON.parse(text) as TimedRecord),
          ...(portSetId === 0 ? {} : { scannedPorts: scannedPorts?.value }),
        };
        continue;
      }
      const [state, service, probed, banner, product, version, cpe] = JSON.parse(text) as PortValues;
      const port = {
        protocol: protocol as ObservedPort['protocol'],
        number,
        state,
        service,
        probed,
        banner,
        product,
        version,
        cpe,
      };
      const earlier = isSamePort ? ports.pop() : undefined;
      ports.push(earlier === undefined ? port : mergeObservedPorts(earlier, port));
    }
    if (last !== undefined && ports.length > 0) yield takePartialRecord(last[0]);
  }

  *#rows(): Generator<Row> {
    const page = this.#file.prepare(
      `select address, number, protocol, seen_at, sequence, port_set, record from records
        where (address, number, protocol, seen_at, sequence) > (?, ?, ?, ?, ?)
        order by address, number, protocol, seen_at, sequence limit ${PAGE_SIZE}`,
    );
    let after: [string, number, string, number, number] = ['', WHOLE, '', 0, 0];
    for (;;) {
      const rows = page.all<Row>(...after);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_SIZE) return;
      after = [last[0], last[1], last[2], last[3], last[4]];
    }
  }

  #readPortSet(id: number): ScannedPorts {
    return new ScannedPorts(JSON.parse(String(this.#portSetRanges.first(id)?.[0])) as PortRange[]);
  }

  close(): void {
    this.#file.close();
  }
}

/** Whether a record lists single ports of a host; some tools write a record per port, in any order. */
export function isPartial({ complete, down, unlistedStates, ports }: TimedRecord): boolean {
  return !complete && down !== true && unlistedStates.length === 0 && ports.length > 0;
}
