import { addressOf } from '../../reading/addresses.ts';
import { elementsAt, markdownAt, textAt, textsAt } from '../../reading/elements.ts';
import { severityOf } from '../../reading/scores.ts';
import { cvesIn, cwesIn, markdownOf } from '../../reading/texts.ts';
import { timeOf } from '../../reading/times.ts';
import { urlsIn, webUrl } from '../../reading/urls.ts';
import { readXmlPieces, type XmlElement } from '../../reading/xml-pieces.ts';
import type { Format, ReportedLocation, ReportRecord } from '../../report.ts';

/** Extensions give their issues this type, whatever they are about. */
const EXTENSION_TYPE = '134217728';
/** How much of a message is decoded, in characters of base64: what more it holds is left out. */
const MAX_ENCODED = 256 * 1024;
/** Hours ahead of UTC of what Java calls the zones that reports name; of a name with several meanings the one by which most write. */
// prettier-ignore
const ZONES: Readonly<Record<string, number>> = {
  EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7, BRT: -3, ART: -3,
  WET: 0, WEST: 1, BST: 1, CET: 1, CEST: 2, EET: 2, EEST: 3, SAST: 2, MSK: 3, TRT: 3, GST: 4, PKT: 5,
  IST: 5.5, ICT: 7, WIB: 7, SGT: 8, HKT: 8, PHT: 8, AWST: 8, JST: 9, KST: 9, AEST: 10, AEDT: 11, NZST: 12, NZDT: 13,
};

/**
 * The issues that Burp Suite saves as XML, by the document type that stands in every report. It has those alone that
 * somebody chose to save, so that it covers nothing.
 */
export const burp: Format = {
  name: 'burp',
  title: 'Burp Suite XML',
  findings: true,
  recognise: ({ root, text }) =>
    root?.name === 'issues' && ('burpVersion' in root.attributes || /<issue>\s*<serialNumber>/.test(text)),
  async *read(source) {
    const pieces = readXmlPieces(source(), {
      roots: ['issues'],
      begins: ['issues'],
      paths: ['issues.issue'],
    });
    for await (const { path, element, line } of pieces) {
      if (path === 'issues.issue') {
        yield { ...recordOfIssue(element), at: { line } };
        continue;
      }
      const scannedAt = timeOfExport(element.attributes.exportTime);
      if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    }
  },
};

function recordOfIssue(issue: XmlElement): ReportRecord {
  const severity = textAt(issue, 'severity') ?? '';
  const confidence = textAt(issue, 'confidence') ?? '';
  if ([severity, confidence].some((word) => /^false positive$/i.test(word))) {
    return { kind: 'skipped', reason: 'false positive' };
  }
  const title = textAt(issue, 'name');
  const type = textAt(issue, 'type');
  if (title === undefined) return { kind: 'skipped', reason: 'no name' };

  const host = elementsAt(issue, 'host')[0];
  const origin = webUrl(host?.text.trim())?.origin;
  const fixes = [markdownAt(issue, 'remediationDetail'), markdownAt(issue, 'remediationBackground')];
  const details = [
    ...textsAt(issue, 'issueDetail'),
    ...textsAt(issue, 'issueDetailItems', 'issueDetailItem'),
  ];
  return {
    kind: 'finding',
    finding: {
      rule: type === undefined || type === EXTENSION_TYPE ? title.toLowerCase() : type,
      title,
      severity: severityOf(severity) ?? 'Informational',
      description: markdownAt(issue, 'issueBackground') ?? markdownAt(issue, 'issueDetail'),
      recommendedFix: fixes.filter((text) => text !== undefined).join('\n\n'),
      cweIds: cwesIn(textAt(issue, 'vulnerabilityClassifications') ?? ''),
      cveIds: cvesIn([title, ...details].join(' ')),
      referenceUrls: urlsIn(textAt(issue, 'references')),
      target: origin === undefined ? undefined : { url: origin },
      locations: locationsOf(issue, host, origin),
      evidence: [...detailsOf(issue, details), ...messagesOf(issue)],
    },
  };
}

/** @param text as Java writes a date: `Wed Jan 27 22:43:35 WIB 2021`; a zone that is not known counts as UTC */
function timeOfExport(text: string | undefined): number | undefined {
  const [, before, zone = '', year] =
    /^(.{15,25} )([A-Z]{3,5}|GMT[+-]\d\d:\d\d) (\d{4})$/.exec(text ?? '') ?? [];
  if (before === undefined) return timeOf(text);
  const time = timeOf(`${before}${zone.startsWith('GMT') ? zone.slice(3) || 'Z' : 'Z'} ${year}`);
  return time === undefined ? undefined : time - (ZONES[zone] ?? 0) * 3_600_000;
}

/** A location is the path with, in brackets, the parameter or header that the issue is about. */
function detailsOf(issue: XmlElement, details: readonly string[]): string[] {
  const location = textAt(issue, 'location');
  const where = location === undefined || location === textAt(issue, 'path') ? [] : [`Location: ${location}`];
  const told = [...where, ...details.map(markdownOf)].join('\n\n');
  return told === '' ? [] : [told];
}

function locationsOf(
  issue: XmlElement,
  host: XmlElement | undefined,
  origin: string | undefined,
): ReportedLocation[] {
  const path = textAt(issue, 'path') ?? '/';
  const url =
    origin === undefined ? undefined : webUrl(`${origin}${path.startsWith('/') ? path : `/${path}`}`);
  if (url === undefined) return [];
  const address = addressOf(host?.attributes.ip);
  return [{ type: 'url', value: url.href, ...(address === undefined ? {} : { address }) }];
}

/** @returns each request with its answers, as sent */
function messagesOf(issue: XmlElement): string[] {
  return elementsAt(issue, 'requestresponse').flatMap((exchange) => {
    const messages = ['request', 'response'].flatMap((name) => elementsAt(exchange, name).map(messageOf));
    const told = messages.filter((message) => message !== '').join('\n\n');
    return told === '' ? [] : [told];
  });
}

function messageOf({ attributes, text }: XmlElement): string {
  if (attributes.base64 !== 'true') return text.trim();
  return Buffer.from(text.trim().slice(0, MAX_ENCODED), 'base64').toString().trim();
}
