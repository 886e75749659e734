import { asRequest } from '../build-finding.ts';
import { readDemoFile } from '../data.ts';
import type { DemoFinding } from '../affected-locations.ts';
import type { SeededRandom } from '../random.ts';

export interface EvidenceFile {
  filename: string;
  contentType: string;
  content: Buffer;
}

const SCREENSHOTS = ['screenshot-1.png', 'screenshot-2.png', 'screenshot-3.png'];

/**
 * Returns the attachments of a new finding, at random: the output of a scan for a finding on a host; HTTP messages, a
 * screenshot or both for others; or none.
 */
export function createEvidence(finding: DemoFinding, random: SeededRandom): EvidenceFile[] {
  const { location, template } = finding;
  const files: EvidenceFile[] = [];
  if (location.type === 'ip') return random.happens(60) ? [scanOutput(finding)] : [];
  if (template.http !== undefined && random.happens(35)) files.push(httpRequests(finding));
  if (random.happens(10)) files.push(screenshotOf(finding));
  return files;
}

export function retestReport(): EvidenceFile {
  const filename = 'retest-report.pdf';
  return { filename, contentType: 'application/pdf', content: readDemoFile(filename) };
}

function httpRequests({ template, values }: DemoFinding): EvidenceFile {
  const messages = (template.http ?? []).map((message) => asRequest(message, values));
  return {
    filename: 'requests.http',
    contentType: 'text/plain',
    content: Buffer.from(messages.join('\r\n\r\n###\r\n\r\n')),
  };
}

function screenshotOf({ template }: DemoFinding): EvidenceFile {
  const name = SCREENSHOTS[template.title.length % SCREENSHOTS.length] as string;
  return { filename: 'screenshot.png', contentType: 'image/png', content: readDemoFile(name) };
}

function scanOutput({ values }: DemoFinding): EvidenceFile {
  const protocol = values.port === '161' || values.port === '123' ? 'udp' : 'tcp';
  const lines = [
    `# nmap -sV -p ${values.port} ${values.address}`,
    `Nmap scan report for ${values.host} (${values.address})`,
    'Host is up (0.00042s latency).',
    '',
    'PORT      STATE',
    `${`${values.port}/${protocol}`.padEnd(10)}open`,
    '',
  ];
  return { filename: 'scan.txt', contentType: 'text/plain', content: Buffer.from(lines.join('\n')) };
}
