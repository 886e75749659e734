/** Reads each report of a JSON list from standard input, and prints the name of each when it is done. */
import { text } from 'node:stream/consumers';
import { REPORT_FORMATS } from '../../src/importers/formats/index.ts';
import { identityOf, scanScopeKeyOf } from '../../src/importers/targets.ts';
import { normalizeFinding } from '../../src/importers/normalize-finding.ts';
import { ReportError } from '../../src/importers/report.ts';

/** `§` in the report is replaced by the text: a start, a repeated unit, and an end. */
export interface HostileReport {
  name: string;
  format: string;
  report: string;
  text: readonly [begin: string, unit: string, end: string];
  /** Characters of all units together. */
  length: number;
}

async function read({ format, report, text: [begin, unit, end], length }: HostileReport): Promise<void> {
  const hostile = `${begin}${unit.repeat(length / unit.length)}${end}`;
  const bytes = Buffer.from(report.replaceAll('§', () => hostile));
  const source = async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  };
  try {
    for await (const record of REPORT_FORMATS.find(({ name }) => name === format)?.read(source, {}) ?? []) {
      if (record.kind === 'covered') scanScopeKeyOf(record.target, record.ports);
      if (record.kind !== 'finding') continue;
      normalizeFinding(record.finding);
      identityOf(record.finding, format);
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
  }
}

for (const report of JSON.parse(await text(process.stdin)) as HostileReport[]) {
  await read(report);
  console.log(report.name);
}
