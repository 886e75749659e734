import type { Severity } from '../../../domain/shared/statuses-and-severities.ts';
import type { ReportedFinding } from '../../report.ts';
import { parseSeverity, severityOfScore } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';

/** The findings of a script; `absent` counts vulnerabilities that it calls not vulnerable or could not test. */
export interface ScriptFindings {
  findings: Omit<ReportedFinding, 'target'>[];
  absent: number;
}

/** Scripts that only repeat what a server sends. */
const ECHOES = new Set([
  'banner',
  'fingerprint-strings',
  'http-comments-displayer',
  'http-headers',
  'http-title',
  'ssh-hostkey',
]);
/** For CVEs that a script does not rate. */
const UNRATED: Severity = 'Medium';
const MAX_REFERENCES = 20;
const MAX_OUTPUT = 256 * 1024;

/**
 * Parses the output of an Nmap script (NSE), which has the same text in every version: `vulners` and `vulscan` list
 * ids, scripts of the `vulns` library report a title and a state, others mention a CVE somewhere.
 */
export function readScript(id: string, output: string): ScriptFindings {
  const text = output.slice(0, MAX_OUTPUT);
  if (ECHOES.has(id) || !/CVE-\d{4}-\d{4}/i.test(text)) return { findings: [], absent: 0 };
  if (id === 'vulners') return { findings: listedByVulners(text), absent: 0 };
  if (id === 'vulscan') return { findings: listedByVulscan(text), absent: 0 };
  const blocks = blocksOf(text);
  if (blocks.length > 0) return parseBlocks(id, blocks);
  if (/\bnot vulnerable\b/i.test(text)) return { findings: [], absent: 1 };
  const findings = extractCveIds(text).map((cve) => ({
    rule: cve,
    title: `${cve} (${id})`,
    severity: UNRATED,
    cveIds: [cve],
    evidence: [text.trim()],
  }));
  return { findings, absent: 0 };
}

const VULNERABILITIES = 'vuln';

/** @returns the group of a script: scripts that list the CVEs of a version are groups of their own */
export function checksOfScript(id: string): string {
  return id === 'vulners' || id === 'vulscan' ? id : VULNERABILITIES;
}

/**
 * @returns the groups of scripts that a command line runs: a pattern such as `http-vuln*` counts as all of `vuln`; a
 *   single script is a group only if it is `vulners` or `vulscan`
 */
export function checksOfCommand(args: string): string[] {
  const [, scripts = ''] = /\s--script[= ]("[^"]*"|\S+)/.exec(args) ?? [];
  const names = scripts.toLowerCase().split(/[\s,()"']+/);
  const runsAll = names.some(
    (name) => name === 'vuln' || name === 'all' || /^(?:(?!vuln|cve)[^])*(?:vuln|cve)[^]*\*/.test(name),
  );
  return [
    ...(runsAll ? [VULNERABILITIES] : []),
    ...(runsAll || names.some((name) => name.startsWith('vulners')) ? ['vulners'] : []),
    ...(names.some((name) => name === 'all' || name.startsWith('vulscan')) ? ['vulscan'] : []),
  ];
}

/** Rows of id, score, URL and exploit mark, separated by tabs, below a CPE name. */
function listedByVulners(text: string): ScriptFindings['findings'] {
  const cves = new Map<string, { score: number; address: string; hasExploit: boolean; product: string }>();
  const urls: string[] = [];
  let cpe = '';
  for (const line of text.split('\n')) {
    const heading = /^\s*(\S.{0,200}):\s*$/.exec(line);
    if (heading !== null) {
      cpe = heading[1] ?? '';
      continue;
    }
    const [name = '', score = '', address = '', mark = ''] = line.trim().split(/\s+/);
    const [cve] = extractCveIds(name);
    if (cve !== undefined && cve.length === name.length) {
      cves.set(cve, { score: Number(score), address, hasExploit: mark.includes('EXPLOIT'), product: cpe });
    } else if (/^https?:\/\//.test(address)) urls.push(address);
  }
  return Array.from(cves, ([cve, { score, address, hasExploit, product }]) => {
    const rated = score >= 0 && score <= 10;
    return {
      rule: cve,
      title: product === '' ? cve : `${cve} in ${product.replace(/^cpe:\/[aoh]:/, '').replaceAll(':', ' ')}`,
      severity: rated ? severityOfScore(score) : UNRATED,
      ...(rated ? { cvssScore: score } : {}),
      cveIds: [cve],
      description: textToMarkdown(
        `${cve} affects this version of the service (${product}).` +
          (hasExploit ? ' A public exploit exists.' : ''),
      ),
      referenceUrls: [...(/^https?:\/\//.test(address) ? [address] : []), ...urls.slice(0, MAX_REFERENCES)],
    };
  });
}

/** Rows of `[CVE-2013-2070] title` below the name of a database. */
function listedByVulscan(text: string): ScriptFindings['findings'] {
  const titles = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, id = '', title = ''] = /^\s*\[(CVE-\d{4}-\d{4,19})\]\s*(\S.*)?$/i.exec(line) ?? [];
    if (id !== '' && !titles.has(id.toUpperCase())) titles.set(id.toUpperCase(), title.trim());
  }
  return Array.from(titles, ([cve, title]) => ({
    rule: cve,
    title: title === '' ? cve : `${cve}: ${title.slice(0, 200)}`,
    severity: UNRATED,
    cveIds: [cve],
    ...(title === '' ? {} : { description: textToMarkdown(title) }),
  }));
}

interface Block {
  title: string;
  state: string;
  text: string;
}

/** The output of the `vulns` library: a title, its state on the next line, then details. */
function blocksOf(text: string): Block[] {
  const lines = text.split('\n');
  const starts = lines.flatMap((line, index) => (index > 0 && /^\s*State: /.test(line) ? [index - 1] : []));
  return starts.map((start, index) => ({
    title: lines[start]?.trim() ?? '',
    state: lines[start + 1]?.trim().slice('State: '.length) ?? '',
    text: lines
      .slice(start, starts[index + 1])
      .map((line) => line.trim())
      .join('\n')
      .trim(),
  }));
}

/** @returns the lines between the facts and the results, which are fields of their own or evidence */
function descriptionOf(block: string): string {
  const [, , ...lines] = block.split('\n');
  const start = lines.findIndex((line) => !/^(?:IDs|Risk factor):/.test(line));
  const end = lines.findIndex((line) =>
    /^(?:Disclosure date|Check results|Exploit results|Extra information|References):/.test(line),
  );
  return start === -1 ? '' : textToMarkdown(lines.slice(start, end === -1 ? undefined : end).join('\n'));
}

function parseBlocks(id: string, blocks: readonly Block[]): ScriptFindings {
  const findings: ScriptFindings['findings'] = [];
  let absent = 0;
  for (const { title, state, text } of blocks) {
    if (/^(NOT VULNERABLE|UNKNOWN)/i.test(state)) {
      absent += 1;
      continue;
    }
    const [, risk] = /Risk factor:\s*(\w+)/i.exec(text) ?? [];
    const [, score] = /CVSS(?:v2)?:\s*(\d{1,2}(?:\.\d)?)/i.exec(text) ?? [];
    const cvssScore = score === undefined || Number(score) > 10 ? undefined : Number(score);
    const rated = cvssScore === undefined ? UNRATED : severityOfScore(cvssScore);
    for (const cve of extractCveIds(/^IDs:.*$/m.exec(text)?.[0] ?? text)) {
      findings.push({
        rule: cve,
        title: title === '' ? `${cve} (${id})` : title,
        severity: parseSeverity(risk) ?? rated,
        ...(cvssScore === undefined ? {} : { cvssScore }),
        cveIds: [cve],
        description: descriptionOf(text) || textToMarkdown(title),
        referenceUrls: Array.from(text.matchAll(/^https?:\/\/\S+$/gm), ([address]) => address),
        evidence: [text],
      });
    }
  }
  return { findings, absent };
}
