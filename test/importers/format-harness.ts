import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { identityOf } from '../../src/importers/targets.ts';
import { matchingFormats, readSample } from '../../src/importers/formats/index.ts';
import { decompress } from '../../src/importers/parsing/decompress.ts';
import {
  type ByteSource,
  type ColumnMapping,
  type ReportFormat,
  ReportError,
  type ReportRecord,
} from '../../src/importers/report.ts';
import { inChunks } from './reports.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);
/** Mutated reports per format. */
const VARIANTS = 1_000;

interface HarnessOptions {
  /** Files in the fixture folder that are not reports. */
  besides?: readonly string[];
  mapping?: ColumnMapping;
  /** Whether the format reads a report twice, because its end affects earlier records. */
  readsTwice?: boolean;
  /** Reports that no format detects, such as CSV with unknown columns. */
  unrecognised?: readonly string[];
}

/** Returns the records of a report, and the error that ended it. */
export async function readRecords(
  format: ReportFormat,
  bytes: string | Uint8Array,
  { mapping, size }: { mapping?: ColumnMapping | undefined; size?: number } = {},
): Promise<{ records: ReportRecord[]; error?: ReportError }> {
  const records: ReportRecord[] = [];
  try {
    for await (const record of format.read(() => inChunks(bytes, size), { mapping })) records.push(record);
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    return { records, error };
  }
  return { records };
}

export async function findingsOf(format: ReportFormat, bytes: string | Uint8Array, mapping?: ColumnMapping) {
  const { records, error } = await readRecords(format, bytes, { mapping });
  if (error !== undefined) throw error;
  return records.flatMap((record) => (record.kind === 'finding' ? [record.finding] : []));
}

/**
 * Defines the tests of every format for each report in `test/fixtures/<name>/`: only this format detects it; it yields
 * the records of `<report>.records.json` (written if missing: review it before the commit), with chunks of any size; it
 * ends with the records so far or a `ReportError` if truncated or changed anywhere.
 */
export function describeFormat(format: ReportFormat, options: HarnessOptions = {}): void {
  const folder = new URL(`${format.name}/`, FIXTURES);
  const files = readdirSync(folder).filter(
    (file) => !file.endsWith('.records.json') && options.besides?.includes(file) !== true,
  );
  const { mapping } = options;

  describe.each(files)(`${format.name}: %s`, (file) => {
    const bytes = readFileSync(new URL(file, folder));
    const read = (report: Uint8Array, size?: number) =>
      readRecords(format, report, { mapping, ...(size === undefined ? {} : { size }) });

    it('is detected by this format only', async () => {
      const sample = await readSample(() => inChunks(bytes));
      const names = matchingFormats(sample).map(({ name }) => name);
      expect(names).toEqual(options.unrecognised?.includes(file) === true ? [] : [format.name]);
    });

    it('is detected and read behind a byte order mark, white space and compression', async () => {
      const expected = await read(bytes);
      const variants = [
        Buffer.concat([Buffer.from('\uFEFF'), bytes]),
        Buffer.concat([Buffer.from(' \r\n\n'), bytes]),
        gzipSync(bytes),
      ];
      for (const variant of variants) {
        const source = decompress(() => inChunks(variant));
        if (options.unrecognised?.includes(file) !== true) {
          const names = matchingFormats(await readSample(source)).map(({ name }) => name);
          expect(names).toEqual([format.name]);
        }
        const records = await recordsFrom(format, source, mapping);
        expect(records.map(withoutLocation)).toEqual(expected.records.map(withoutLocation));
      }
    });

    it('is detected, and has the same findings, whatever the order of its members and lists', async () => {
      const random = randomFrom(bytes.length);
      const expected = identitiesIn((await read(bytes)).records, format);
      for (let variant = 0; variant < 5; variant += 1) {
        const shuffled = shuffledJson(bytes.toString(), random);
        if (shuffled === undefined) break;
        const sample = await readSample(() => inChunks(shuffled));
        expect(matchingFormats(sample).map(({ name }) => name)).toEqual([format.name]);
        const { records, error } = await read(Buffer.from(shuffled));
        expect(error).toBeUndefined();
        expect(identitiesIn(records, format)).toEqual(expected);
      }
    });

    it('yields the expected records', async () => {
      const { records, error } = await read(bytes);
      expect(error).toBeUndefined();
      const expected = new URL(`${basename(file)}.records.json`, folder);
      await expect(`${JSON.stringify(records, null, 2)}\n`).toMatchFileSnapshot(expected.pathname);
    });

    it('yields the same records again, and with chunks of any size', async () => {
      const complete = await read(bytes);
      expect(await read(bytes)).toEqual(complete);
      for (const size of [1, 13]) expect(await read(bytes, size)).toEqual(complete);
    });

    it('yields the first records if truncated anywhere', async () => {
      const comparable = (records: readonly ReportRecord[]) =>
        records.flatMap((record) => comparableParts(record, options));
      const complete = comparable((await read(bytes)).records);
      for (let end = 0; end < bytes.length; end += 1_000) {
        const cut = comparable((await read(bytes.subarray(0, end))).records);
        expect(cut).toEqual(complete.slice(0, cut.length));
      }
    });

    it('ends with random changes, with no more records than bytes', async () => {
      const random = randomFrom(bytes.length);
      for (let variant = 0; variant < Math.ceil(VARIANTS / files.length); variant += 1) {
        const report = mutated(bytes, random);
        const { records } = await read(report).catch((error: unknown) => {
          throw new Error(`Variant ${variant} threw what is no ReportError.`, { cause: error });
        });
        // A generator that yields without reading would never end.
        expect(records.length).toBeLessThanOrEqual(report.length);
      }
    });
  });
}

async function recordsFrom(
  format: ReportFormat,
  source: ByteSource,
  mapping: ColumnMapping | undefined,
): Promise<ReportRecord[]> {
  const records: ReportRecord[] = [];
  for await (const record of format.read(source, { mapping })) records.push(record);
  return records;
}

const withoutLocation = (record: ReportRecord): object => ({ ...record, location: undefined });

/** Returns the distinct identities of the findings and hosts, sorted. */
function identitiesIn(records: readonly ReportRecord[], format: ReportFormat): string[] {
  const identities = records.flatMap((record) => {
    if (record.kind === 'host') return record.host.address;
    return record.kind === 'finding' ? identityOf(record.finding, record.finding.source ?? format.name) : [];
  });
  return [...new Set(identities)].sort();
}

/** Lists to whose entries other members refer by index (SARIF). */
const INDEXED = ['rules', 'artifacts', 'extensions', 'invocations', 'logicalLocations', 'taxa', 'taxonomies'];

/**
 * Returns a JSON document, or JSON Lines, with its members, lists and lines in another order; `undefined` for others.
 */
function shuffledJson(text: string, random: Random): string | undefined {
  const shuffle = (value: unknown, name?: string): unknown => {
    if (Array.isArray(value)) {
      const items = value.map((item) => shuffle(item));
      return INDEXED.includes(name ?? '') ? items : inRandomOrder(items, random);
    }
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([key, member]) => [key, shuffle(member, key)] as const);
    return Object.fromEntries(inRandomOrder(members, random));
  };
  const parse = (part: string): { value: unknown } | undefined => {
    try {
      return { value: JSON.parse(part) as unknown };
    } catch {
      return undefined;
    }
  };
  const allRecords = parse(text);
  if (allRecords !== undefined) return JSON.stringify(shuffle(allRecords.value), null, 2);
  const lines = text.split('\n').flatMap((line) => parse(line) ?? []);
  if (lines.length < 2 || !text.startsWith('{"')) return undefined;
  return inRandomOrder(lines, random)
    .map(({ value }) => JSON.stringify(shuffle(value)))
    .join('\n');
}

function inRandomOrder<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0] as T);
}

/** Returns the records without those about a truncation, which only a truncated report has. */
function comparableParts(record: ReportRecord, { readsTwice }: HarnessOptions): unknown[] {
  if (record.kind === 'host') return [JSON.stringify(record.host)];
  if (record.kind !== 'finding') return [];
  return [readsTwice === true ? identityOf(record.finding, 'source') : JSON.stringify(record.finding)];
}

type Random = (below: number) => number;

/** Returns the same numbers in every run (Lehmer generator). */
function randomFrom(seed: number): Random {
  let state = (seed % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

// prettier-ignore
const STRANGE = [
  'null', '[]', '{}', '""', '-1', '1e999', '99999999999999999999', 'true', '"x"', '[[]]', '0.1',
  '\0', '\uFFFF', '\\ud800', '&#0;', '&x;', '<', '>', '</a>', '<a>', '"', "'", ',', ':', ']', '}', '\n',
  'http://[::1', 'javascript:1', '1600-01-01T00:00:00Z', '9999-12-31', 'CVSS:3.1/AV:N', '%', '../../etc',
];

/** Makes one to four changes to bytes, spans or values. */
function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  let report: Buffer = Buffer.from(bytes);
  for (let change = 0; change <= random(4); change += 1) {
    const at = random(Math.max(report.length, 1));
    const length = random(50) + 1;
    const [before, span, after] = [
      report.subarray(0, at),
      report.subarray(at, at + length),
      report.subarray(at + length),
    ];
    const strange = Buffer.from(STRANGE[random(STRANGE.length)] as string);
    switch (random(7)) {
      case 0:
        report = Buffer.concat([before, Buffer.from([random(256)]), report.subarray(at + 1)]);
        break;
      case 1:
        report = Buffer.concat([before, after]);
        break;
      case 2:
        report = Buffer.concat([before, span, span, after]);
        break;
      case 3:
        report = Buffer.concat([before, strange, report.subarray(at)]);
        break;
      case 4:
        report = Buffer.concat([before, Buffer.alloc(random(5_000), span), after]);
        break;
      default:
        report = withoutValue(report, at, strange);
    }
  }
  return report;
}

/** Replaces the next string, number or word. */
function withoutValue(report: Buffer, at: number, value: Uint8Array): Buffer {
  const text = report.subarray(at, at + 2_000).toString('latin1');
  const token = /"[^"]*"|\b[\w.-]+\b/.exec(text);
  if (token === null) return report;
  const start = at + token.index;
  return Buffer.concat([report.subarray(0, start), value, report.subarray(start + token[0].length)]);
}
