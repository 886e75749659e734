import { type NiktoItem, recordOfNiktoItem } from './items.ts';
import { type LenientObject, streamLenientObjects } from './lenient-json.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { peekStart } from '../../parsing/encodings.ts';
import { parseWebUrl } from '../../parsing/urls.ts';
import { streamXmlMatches, textAt, type XmlAncestor, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ReportFormat, ReportRecord } from '../../report.ts';

/** 2.1.5 has one element around the hosts, 2.1.6 two of the same name, 2.5 two of different names. */
const SCANS = ['niktoscan', 'niktoscan.niktoscan', 'niktoscans.niktoscan'];
const DETAILS = SCANS.map((scan) => `${scan}.scandetails`);
/** Options that choose the tests of a scan. */
const LIMITS_TESTS = /(?:^|\s)-(?:T|Tuning|Plugins)\s/;
/** Characters of a site, which is parsed for each of its items. */
const MAX_SITE = 2_048;
/** Items buffered until their host follows. */
const MAX_BUFFERED = 10_000;

/**
 * Nikto's XML and JSON reports, 2.1.5 to 2.5: github.com/sullo/nikto, program/templates/nikto.dtd and the plug-ins
 * `report_xml` and `report_json`.
 */
export const nikto: ReportFormat = {
  name: 'nikto',
  title: 'Nikto XML or JSON',
  hasFindings: true,
  detect: ({ root, text }) => (root === undefined ? isJson(text) : /^niktoscans?$/.test(root.name)),
  async *read(source) {
    const { start, all } = await peekStart(source());
    yield* start.startsWith('<') ? readXml(all) : readJson(all);
  },
};

/** Matches the text, because old versions write invalid JSON. */
function isJson(text: string): boolean {
  return (
    /^\s*(?:\[\s*)?\{/.test(text) &&
    ['"host"\\s*:\\s*"', '"port"\\s*:', '"banner"\\s*:', '"vulnerabilities"\\s*:\\s*\\['].every((member) =>
      new RegExp(member).test(text),
    )
  );
}

async function* readXml(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord> {
  const matches = streamXmlMatches(chunks, {
    roots: ['niktoscan', 'niktoscans'],
    // 2.1.6 does not end the element of a host before the next one.
    reopens: 'niktoscan',
    begins: DETAILS,
    paths: DETAILS.flatMap((details) => [`${details}.item`, `${details}.statistics`]),
  });
  for await (const { element, ancestors, line } of matches) {
    if (element.name === 'scandetails') {
      const scan = ancestors.at(-1)?.attributes ?? {};
      yield* recordsOfTime(element.attributes.starttime ?? scan.scanstart);
      continue;
    }
    const origin = originOf(ancestors.at(-1));
    if (element.name === 'item') {
      yield recordOfNiktoItem(itemOfElement(element), origin, { line });
    } else {
      yield* recordsOfTime(element.attributes.endtime);
      const { options } = ancestors.at(-2)?.attributes ?? {};
      if (origin !== undefined && !LIMITS_TESTS.test(options ?? ''))
        yield { kind: 'covered', target: { url: origin } };
    }
  }
}

function* recordsOfTime(text: string | undefined): Generator<ReportRecord> {
  const scannedAt = parseTime(text);
  if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
}

function originOf(details: XmlAncestor | undefined): string | undefined {
  const { sitename, siteip } = details?.attributes ?? {};
  const [url] = [sitename, siteip].flatMap((text = '') =>
    text.length > MAX_SITE ? [] : (parseWebUrl(text) ?? []),
  );
  return url?.origin;
}

function itemOfElement(item: XmlElement): NiktoItem {
  return {
    id: item.attributes.id,
    method: item.attributes.method,
    uri: textAt(item, 'uri'),
    link: textAt(item, 'namelink'),
    message: textAt(item, 'description'),
    references: textAt(item, 'references'),
    osvdb: item.attributes.osvdbid,
  };
}

async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord> {
  let buffered: LenientObject[] = [];
  for await (const object of streamLenientObjects(chunks)) {
    const { members, parent, offset } = object;
    if (members.has('msg') || members.has('id')) {
      const origin = parent === undefined ? undefined : originOfJson(parent);
      if (origin === undefined && parent !== undefined && buffered.length < MAX_BUFFERED)
        buffered.push(object);
      else yield recordOfNiktoItem(itemOfJson(object), origin, { offset });
    } else if (members.has('host') || members.has('ip')) {
      const origin = originOfJson(object);
      for (const item of buffered) yield recordOfNiktoItem(itemOfJson(item), origin, { offset: item.offset });
      buffered = [];
      if (origin !== undefined) yield { kind: 'covered', target: { url: origin } };
    } else {
      yield { kind: 'unreadable', reason: 'not an item', location: { offset } };
    }
  }
}

/** The report does not say whether the site uses TLS; ports ending in 443 nearly always do. */
function originOfJson({ members }: LenientObject): string | undefined {
  const host = members.get('host') || members.get('ip');
  const port = members.get('port');
  if (host === undefined || port === undefined || host.length + port.length > MAX_SITE) return undefined;
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return parseWebUrl(`${port.endsWith('443') ? 'https' : 'http'}://${name}:${port}/`)?.origin;
}

function itemOfJson({ members }: LenientObject): NiktoItem {
  return {
    id: members.get('id'),
    method: members.get('method'),
    uri: members.get('url'),
    link: undefined,
    message: members.get('msg'),
    references: members.get('references'),
    osvdb: members.get('OSVDB'),
  };
}
