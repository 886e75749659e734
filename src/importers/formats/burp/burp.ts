import { extractCveIds, extractCweIds } from '../../parsing/vulnerability-ids.ts';
import { htmlToText } from '../../parsing/html-to-markdown.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { normalizeAddress } from '../../parsing/scanned-hosts.ts';
import { parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractUrls, parseWebUrl } from '../../parsing/urls.ts';
import {
  elementsAt,
  markdownAt,
  streamXmlMatches,
  textAt,
  textsAt,
  type XmlAncestor,
  type XmlElement,
} from '../../parsing/xml-stream.ts';
import type { ReportedLocation, ReportFormat, ReportRecord } from '../../report.ts';
import { foldCase } from '../../../lib/fold-case.ts';

/** The type of all issues from extensions. */
const EXTENSION_TYPE = '134217728';
/** Characters per message as the report writes it, in base64 or plain; the rest is cut. */
const MAX_ENCODED = 256 * 1024;
/** Exchanges with content per issue: one more than a finding stores, so that it counts as cut. */
const MAX_SHOWN = 21;
const TEXTS =
  'type name host path location severity confidence issueBackground remediationBackground references ' +
  'vulnerabilityClassifications issueDetail issueDetailItems remediationDetail';
const MESSAGES = ['requestresponse.request', 'requestresponse.response'];
/** Issues saved by Burp Suite as XML. People choose which issues they save, so a report covers nothing. */
export const burp: ReportFormat = {
  name: 'burp',
  title: 'Burp Suite XML',
  hasFindings: true,
  detect: ({ root, text }) =>
    root?.name === 'issues' && ('burpVersion' in root.attributes || /<issue>\s*<serialNumber>/.test(text)),
  async *read(source) {
    // An issue can have many messages of several megabytes, so they are read one by one.
    const matches = streamXmlMatches(source(), {
      roots: ['issues'],
      begins: ['issues'],
      ends: ['issues.issue'],
      paths: [...TEXTS.split(' '), ...MESSAGES].map((name) => `issues.issue.${name}`),
    });
    let issue = new Issue();
    for await (const { path, element, ancestors, line } of matches) {
      if (path === 'issues') {
        const scannedAt = parseTime(element.attributes.exportTime);
        if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
      } else if (path === 'issues.issue') {
        yield { ...recordOfIssue(issue), location: { line } };
        issue = new Issue();
      } else {
        issue.add(element, ancestors.at(-1));
      }
    }
  },
};

class Issue implements XmlElement {
  readonly name = 'issue';
  readonly attributes = {};
  readonly text = '';
  readonly children: XmlElement[] = [];
  /** Messages of each exchange, by parent element. */
  readonly #exchanges = new Map<XmlAncestor | undefined, XmlElement[]>();

  add(element: XmlElement, parent: XmlAncestor | undefined): void {
    if (parent?.name !== 'requestresponse') {
      this.children.push(element);
      return;
    }
    const messages = this.#exchanges.get(parent) ?? [];
    if (messages.length === 0 && this.#exchanges.size >= MAX_SHOWN) return;
    this.#exchanges.set(parent, messages);
    messages.push({ ...element, text: element.text.trim().slice(0, MAX_ENCODED) });
  }

  /** @returns each request with its responses */
  messages(): string[] {
    return Array.from(this.#exchanges.values(), (messages) =>
      messages
        .map(messageOf)
        .filter((message) => message !== '')
        .join('\n\n'),
    ).filter((text) => text !== '');
  }
}

function recordOfIssue(issue: Issue): ReportRecord {
  const severity = textAt(issue, 'severity') ?? '';
  const confidence = textAt(issue, 'confidence') ?? '';
  if ([severity, confidence].some((word) => /^false positive$/i.test(word))) {
    return { kind: 'skipped', reason: 'false positive' };
  }
  const title = textAt(issue, 'name');
  const type = textAt(issue, 'type');
  if (title === undefined) return { kind: 'unreadable', reason: 'no name' };

  const host = elementsAt(issue, 'host')[0];
  const origin = parseWebUrl(host?.text.trim())?.origin;
  const fixes = [markdownAt(issue, 'remediationDetail'), markdownAt(issue, 'remediationBackground')];
  const details = [
    ...textsAt(issue, 'issueDetail'),
    ...textsAt(issue, 'issueDetailItems', 'issueDetailItem'),
  ];
  return {
    kind: 'finding',
    finding: {
      rule: type === undefined || type === EXTENSION_TYPE ? foldCase(title) : type,
      title,
      severity: parseSeverity(severity) ?? 'Informational',
      description: markdownAt(issue, 'issueBackground') ?? markdownAt(issue, 'issueDetail'),
      recommendedFix: fixes.filter((text) => text !== undefined).join('\n\n'),
      cweIds: extractCweIds(textAt(issue, 'vulnerabilityClassifications') ?? ''),
      cveIds: extractCveIds([title, ...details].join(' ')),
      referenceUrls: extractUrls(textAt(issue, 'references')),
      target: origin === undefined ? undefined : { url: origin },
      locations: locationsOf(issue, host, origin),
      evidence: [...detailsOf(issue, details), ...issue.messages()],
    },
  };
}

/** The location is the path followed by the affected parameter or header in brackets. */
function detailsOf(issue: XmlElement, details: readonly string[]): string[] {
  const location = textAt(issue, 'location');
  const locationLine =
    location === undefined || location === textAt(issue, 'path') ? [] : [`Location: ${location}`];
  const confidence = textAt(issue, 'confidence');
  const confidenceLine = confidence === undefined ? [] : [`Confidence: ${confidence}`];
  const text = [...locationLine, ...details.map(htmlToText), ...confidenceLine].join('\n\n');
  return text === '' ? [] : [text];
}

function locationsOf(
  issue: XmlElement,
  host: XmlElement | undefined,
  origin: string | undefined,
): ReportedLocation[] {
  const path = textAt(issue, 'path') ?? '/';
  const url =
    origin === undefined ? undefined : parseWebUrl(`${origin}${path.startsWith('/') ? path : `/${path}`}`);
  if (url === undefined) return [];
  const address = normalizeAddress(host?.attributes.ip);
  return [{ type: 'url', value: url.href, ...(address === undefined ? {} : { address }) }];
}

function messageOf({ attributes, text }: XmlElement): string {
  return attributes.base64 === 'true' ? Buffer.from(text, 'base64').toString().trim() : text;
}
