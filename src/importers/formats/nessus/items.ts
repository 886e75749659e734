import { type NessusHost, targetOfHost } from './hosts.ts';
import { extractCweIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
import { bestCvss, parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractUrls } from '../../parsing/urls.ts';
import { markdownTextAt, textAt, textsAt, outputsAt, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ReportedFinding, ReportRecord, ScanTarget } from '../../report.ts';

const SEVERITIES = ['Informational', 'Low', 'Medium', 'High', 'Critical'] as const;
/** Checks in reports before 5.2: `"1.2 Password length" : [FAILED]`. */
const OLD_RESULT = /^"([^"\n]{1,1000})"\s*:\s*\[([A-Z]+)\]/;

/** The group of the checks of an audit, which not every scan runs. */
export const AUDIT = 'audit';
const PASSED = 'passed';

/** @returns whether a record shows that an audit ran */
export function isOfAudit(record: ReportRecord): boolean {
  if (record.kind === 'finding') return record.finding.checks === AUDIT;
  return record.kind === 'untested' || (record.kind === 'skipped' && record.reason === PASSED);
}

/** @returns the result of a plug-in or an audit check on a host and port */
export function recordOfReportItem(item: XmlElement, host: NessusHost): ReportRecord {
  const { attributes } = item;
  const rule = attributes.pluginID ?? textAt(item, 'plugin_id');
  if (rule === undefined) return { kind: 'unreadable', reason: 'no plug-in' };
  const isCheck = textAt(item, 'compliance') === 'true' || textAt(item, 'compliance-result') !== undefined;
  const severityAndTarget = { severity: severityOfItem(item), target: targetAt(host, item) };
  return isCheck
    ? recordOfCheck(item, rule, severityAndTarget)
    : { kind: 'finding', finding: { ...findingOf(item, rule), ...severityAndTarget } };
}

function severityOfItem(item: XmlElement): ReportedFinding['severity'] {
  const level = item.attributes.severity?.trim() ?? '';
  return (
    (/^[0-4]$/.test(level) ? SEVERITIES[Number(level)] : parseSeverity(textAt(item, 'risk_factor'))) ??
    'Informational'
  );
}

/** Items about the whole host have port 0. */
function targetAt(host: NessusHost, { attributes }: XmlElement): ScanTarget {
  const target = targetOfHost(host);
  const port = Number(attributes.port);
  const protocol = (['tcp', 'udp', 'sctp'] as const).find(
    (name) => name === attributes.protocol?.toLowerCase(),
  );
  const isPort = protocol !== undefined && Number.isInteger(port) && port > 0 && port < 65_536;
  return 'host' in target && isPort ? { ...target, port, protocol } : target;
}

type ItemFinding = Omit<ReportedFinding, 'severity' | 'target'>;

function findingOf(item: XmlElement, rule: string): ItemFinding {
  const texts = new Set([markdownTextAt(item, 'synopsis'), markdownTextAt(item, 'description')]);
  const solution = markdownTextAt(item, 'solution');
  const url = /\bon URL '(https?:\/\/[^'\s]+)'/.exec(textAt(item, 'plugin_output') ?? '')?.[1];
  return {
    rule,
    title: item.attributes.pluginName ?? textAt(item, 'plugin_name') ?? rule,
    description: [...texts].filter((text) => text !== undefined).join('\n\n'),
    recommendedFix: solution === 'n/a' ? undefined : solution,
    cveIds: textsAt(item, 'cve'),
    cweIds: [
      ...textsAt(item, 'cwe').map((id) => `CWE-${id.replace(/\D+/g, '')}`),
      ...extractCweIds(textsAt(item, 'xref').join(' ')),
    ],
    ...bestCvss([
      { score: textAt(item, 'cvss4_base_score'), vector: textAt(item, 'cvss4_vector'), version: '4.0' },
      { score: textAt(item, 'cvss3_base_score'), vector: textAt(item, 'cvss3_vector'), version: '3.0' },
      { score: textAt(item, 'cvssv3'), version: '3.0' },
      {
        score: textAt(item, 'cvss_base_score') ?? textAt(item, 'cvss'),
        vector: textAt(item, 'cvss_vector'),
        version: '2.0',
      },
    ]),
    referenceUrls: textsAt(item, 'see_also').flatMap(extractUrls),
    evidence: outputsAt(item, 'plugin_output'),
    // The web application scanner names the page in its output.
    ...(url === undefined ? {} : { locations: [{ type: 'url', value: url }] }),
  };
}

/** All checks of an audit type share a plug-in; the check's id, or else its name, distinguishes them. */
function recordOfCheck(
  item: XmlElement,
  plugin: string,
  severityAndTarget: Pick<ReportedFinding, 'severity' | 'target'>,
): ReportRecord {
  const [, oldName, oldResult] = OLD_RESULT.exec(textAt(item, 'description') ?? '') ?? [];
  const result = (textAt(item, 'compliance-result') ?? oldResult ?? '').toUpperCase();
  if (result === 'PASSED') return { kind: 'skipped', reason: PASSED };
  const name = textAt(item, 'compliance-check-name') ?? oldName;
  const id = textAt(item, 'compliance-check-id') ?? name;
  const rule = id === undefined ? plugin : `${plugin}/${id}`;
  if (result === 'ERROR' || result === 'SKIPPED') {
    const { target } = severityAndTarget;
    return { kind: 'untested', finding: { rule, target }, reason: 'check not run' };
  }
  const values = [
    ['Policy value', textAt(item, 'compliance-policy-value')],
    ['Actual value', textAt(item, 'compliance-actual-value')],
  ].flatMap(([label, value]) => (value === undefined ? [] : [`${label}: ${value}`]));
  const finding = findingOf(item, rule);
  const info = textAt(item, 'compliance-info');
  return {
    kind: 'finding',
    finding: {
      ...finding,
      checks: AUDIT,
      title: name ?? finding.title,
      description: info === undefined ? finding.description : textToMarkdown(info),
      recommendedFix: markdownTextAt(item, 'compliance-solution') ?? finding.recommendedFix,
      referenceUrls: [...extractUrls(textAt(item, 'compliance-see-also')), ...(finding.referenceUrls ?? [])],
      evidence: values.length === 0 ? finding.evidence : [values.join('\n')],
      ...severityAndTarget,
    },
  };
}
