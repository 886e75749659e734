import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Writes chunks to a file, which may be large. @returns its size in bytes */
async function writeChunks(file: string, chunks: Iterable<string>): Promise<number> {
  const stream = createWriteStream(file);
  let written = 0;
  for (const chunk of chunks) {
    written += chunk.length;
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
  return written;
}

const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
/** Each template matches every web application of a report; results are ordered by template, as Nuclei writes them. */
const TEMPLATES = 100;

/** Writes a report of distinct findings like `nuclei -jsonl`, some 1,050 bytes a line. @returns its size in bytes */
export function writeNucleiReport(file: string, findings: number): Promise<number> {
  return writeChunks(file, nucleiLines(findings));
}

function* nucleiLines(findings: number): Generator<string, void> {
  const sites = Math.ceil(findings / TEMPLATES);
  let lines = '';
  for (let number = 0; number < findings; number += 1) {
    lines += `${JSON.stringify(nucleiResult(number, sites))}\n`;
    if (lines.length < 1 << 16) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

/** @returns the title of the last template of a report with so many findings, and how many of them it has */
export function lastNucleiTemplate(findings: number): { title: string; count: number } {
  const sites = Math.ceil(findings / TEMPLATES);
  return { title: nucleiResult(findings - 1, sites).info.name, count: 1 + ((findings - 1) % sites) };
}

/** @returns a result of one of the templates on one of so many sites */
export function nucleiResult(number: number, sites: number) {
  const template = Math.floor(number / sites);
  const host = `web-${number % sites}.example.com`;
  const year = 2015 + (template % 10);
  return {
    template: `http/cves/${year}/CVE-${year}-${1_000 + template}.yaml`,
    'template-id': `CVE-${year}-${1_000 + template}`,
    info: {
      name: `Example Application ${template} - Path Traversal`,
      author: ['someone', 'someone-else'],
      tags: [`cve${year}`, 'lfi', 'example', 'kev'],
      description: `Example Application ${template} before 4.${template % 20} lets unauthenticated attackers read files outside of its folder, as it does not validate file names in the parameter "page".`,
      reference: [
        `https://nvd.nist.gov/vuln/detail/CVE-${year}-${1_000 + template}`,
        `https://example.com/advisories/${template}`,
      ],
      severity: SEVERITIES[template % SEVERITIES.length],
      remediation: `Update to 4.${(template % 20) + 1}.`,
      classification: {
        'cve-id': [`cve-${year}-${1_000 + template}`],
        'cwe-id': ['cwe-22'],
        'cvss-metrics': 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
        'cvss-score': 7.5,
      },
    },
    type: 'http',
    host: `https://${host}`,
    port: '443',
    scheme: 'https',
    url: `https://${host}/index.php?page=../../etc/passwd`,
    'matched-at': `https://${host}/index.php?page=../../etc/passwd`,
    'extracted-results': [`root:x:0:0:root:/root:/bin/bash ${number}`],
    ip: `198.51.100.${number % 250}`,
    timestamp: new Date(1_780_000_000_000 + number * 10).toISOString(),
    'matcher-status': true,
  };
}

/** Writes a SARIF 2.1.0 log of at least this size on a single line. @returns its size in bytes */
export function writeSarifReport(file: string, bytes: number): Promise<number> {
  return writeChunks(file, sarifChunks(bytes));
}

/** Rules of the tool, results per file, and the message of a result. */
const RULES = 200;
const RESULTS_OF_FILE = 50;
const MESSAGE =
  'The value of this parameter is not escaped in a query, so that an attacker can change what the query returns. ';

function* sarifChunks(bytes: number): Generator<string, void> {
  const rules = Array.from({ length: RULES }, (_, number) => ({
    id: `example/rule-${number}`,
    shortDescription: { text: `Rule ${number} of the example` },
    fullDescription: { text: `What rule ${number} is about, in a sentence or two.` },
    help: { markdown: `Do not do what rule ${number} finds.` },
    properties: { 'security-severity': String((number % 100) / 10), tags: ['external/cwe/cwe-089'] },
  }));
  yield `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"Example","version":"1.0","rules":${JSON.stringify(rules)}}},"results":[`;
  let chunk = '';
  for (let number = 0, written = 0; written < bytes; number += 1) {
    chunk += `${number === 0 ? '' : ','}${JSON.stringify(sarifResult(number))}`;
    if (chunk.length < 1 << 16) continue;
    written += chunk.length;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}]}]}`;
}

function sarifResult(number: number): object {
  const file = Math.floor(number / RESULTS_OF_FILE);
  const uri = `src/part-${file % 100}/file-${file}.ts`;
  const line = 1 + (number % RESULTS_OF_FILE) * 7;
  const physicalLocation = {
    artifactLocation: { uri, uriBaseId: '%SRCROOT%' },
    region: {
      startLine: line,
      startColumn: 5,
      endColumn: 40,
      snippet: { text: `query("select " + value${number});` },
    },
  };
  return {
    ruleId: `example/rule-${number % RULES}`,
    ruleIndex: number % RULES,
    level: 'error',
    message: { text: MESSAGE.repeat(3) },
    locations: [{ physicalLocation }],
    partialFingerprints: { primaryLocationLineHash: `${number.toString(16).padStart(16, '0')}:1` },
    codeFlows: [
      { threadFlows: [{ locations: Array.from({ length: 4 }, () => ({ location: { physicalLocation } })) }] },
    ],
  };
}
