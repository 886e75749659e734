import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
import { normalizeAddress, portAndProtocolOf } from '../../parsing/scanned-hosts.ts';
import { bestCvss, parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { extractUrls } from '../../parsing/urls.ts';
import {
  elementsAt,
  ownText,
  markdownTextAt,
  textAt,
  textsAt,
  outputsAt,
  type XmlElement,
} from '../../parsing/xml-stream.ts';
import type { ReportedFinding, ReportRecord, ScanTarget } from '../../report.ts';
import { foldCase } from '../../../lib/fold-case.ts';

const SCANNER_ERROR = 'scanner error';
/** The score of a message for debugging. */
const DEBUG = -2;
/** Results of the CVE scanner, which compares a host's products with known CVEs and runs no tests. */
export const CVE_SCAN = 'cve';
const isCve = (rule: string): boolean => /^CVE-/i.test(rule);

/** @returns the result of one test on a host and port */
export function recordOfResult(result: XmlElement): ReportRecord {
  const threat = textAt(result, 'threat') ?? '';
  const severity = Number(textAt(result, 'severity') ?? Number.NaN);
  const skipped = reasonToSkip(threat, severity, textAt(result, 'compliance'));
  const [nvt] = elementsAt(result, 'nvt');
  const [host] = elementsAt(result, 'host');
  const title = textAt(result, 'name') ?? textAt(result, 'nvt', 'name');
  const oid = nvt?.attributes.oid?.trim() ?? '';
  const rule = /^0?$/.test(oid) ? title && foldCase(title) : oid;
  const target = targetOf(host, textAt(result, 'port') ?? '');
  // A test that failed does not say whether its finding is still there.
  if (skipped === SCANNER_ERROR && severity !== DEBUG && rule !== undefined)
    return { kind: 'untested', finding: { rule, target }, reason: skipped };
  if (skipped !== undefined) return { kind: 'skipped', reason: skipped };
  if (rule === undefined) return { kind: 'unreadable', reason: 'no test' };
  return {
    kind: 'finding',
    finding: {
      rule,
      ...(isCve(rule) ? { checks: CVE_SCAN } : {}),
      title: title ?? rule,
      // Reports before 22.4 have no critical level, so the score decides.
      severity:
        severity >= 0 && severity <= 10
          ? severityOfScore(severity)
          : (severityOfThreat(threat) ?? 'Informational'),
      ...(nvt === undefined ? {} : nvtTexts(nvt, markdownTextAt(result, 'description'))),
      target,
      evidence: [...outputsAt(result, 'description'), ...qualityOf(result)],
    },
  };
}

/** How sure the test is (GMP, element `qod`): a guess by version, or a proof. */
function qualityOf(result: XmlElement): string[] {
  const [value, type] = [textAt(result, 'qod', 'value'), textAt(result, 'qod', 'type')];
  if (value === undefined) return [];
  return [`Quality of detection: ${value} %${type === undefined ? '' : ` (${type})`}`];
}

/** Overrides and scanner errors have a score below 0 (GMP, section `severity`) and a word of their own. */
function reasonToSkip(threat: string, severity: number, compliance: string | undefined): string | undefined {
  if (severity === -1 || /^false positive$/i.test(threat)) return 'false positive';
  if (severity <= -2 || /^(debug|error)$/i.test(threat)) return SCANNER_ERROR;
  return compliance === 'yes' ? 'passed' : undefined;
}

function severityOfThreat(threat: string): ReportedFinding['severity'] | undefined {
  return threat.toLowerCase() === 'alarm' ? 'High' : parseSeverity(threat);
}

type NvtTexts = Pick<
  ReportedFinding,
  'description' | 'impact' | 'recommendedFix' | 'cveIds' | 'referenceUrls' | 'cvssScore' | 'cvssVector'
>;

/** @param resultText the result's text, used if the test has none */
function nvtTexts(nvt: XmlElement, resultText: string | undefined): NvtTexts {
  const tags = tagsOf(textAt(nvt, 'tags') ?? '');
  const tagMarkdown = (name: string) => textToMarkdown(tags.get(name) ?? '');
  const affected = tagMarkdown('affected');
  const references = elementsAt(nvt, 'refs', 'ref').map(({ attributes }) => attributes);
  const otherReferences = [...textsAt(nvt, 'cve'), ...textsAt(nvt, 'xref')].join(' ');
  const severities = elementsAt(nvt, 'severities', 'severity');
  return {
    description:
      [
        tagMarkdown('summary'),
        tagMarkdown('insight'),
        affected === '' ? '' : `**Affected software**\n\n${affected}`,
      ]
        .filter((text) => text !== '')
        .join('\n\n') || resultText,
    impact: tagMarkdown('impact'),
    recommendedFix: markdownTextAt(nvt, 'solution') ?? tagMarkdown('solution'),
    cveIds: [
      ...references.filter(({ type }) => type?.toLowerCase() === 'cve').map(({ id = '' }) => id),
      ...extractCveIds(`${nvt.attributes.oid} ${otherReferences}`),
    ],
    referenceUrls: [...references.flatMap(({ id }) => extractUrls(id)), ...extractUrls(otherReferences)],
    ...bestCvss([
      ...severities.map((severity) => ({
        score: textAt(severity, 'score'),
        vector: textAt(severity, 'value'),
        version: severity.attributes.type?.replace(/^.*_v/, ''),
      })),
      { score: textAt(nvt, 'cvss_base'), vector: tags.get('cvss_base_vector'), version: '2.0' },
    ]),
  };
}

/** `summary=A text.|insight=Another.|…`; a text may contain a bar. */
function tagsOf(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  let last = '';
  for (const part of text.split('|')) {
    const [, name, value = ''] = /^\s*([a-z_A-Z]{1,40})=([^]*)$/.exec(part) ?? [];
    if (name === undefined) tags.set(last, `${tags.get(last) ?? ''}|${part}`);
    else tags.set((last = name), value.trim());
  }
  return tags;
}

function targetOf(host: XmlElement | undefined, port: string): ScanTarget | undefined {
  if (host === undefined) return undefined;
  const name = ownText(host) || textAt(host, 'hostname');
  return name === undefined
    ? undefined
    : { host: normalizeAddress(name) ?? name, ...portAndProtocolOf(port) };
}
