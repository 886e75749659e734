import type { SeededRandom } from '../random.ts';
import { asRequest } from '../build-finding.ts';
import { type DemoFinding, fillTemplate } from '../affected-locations.ts';
import { renderPdf } from './report.ts';
import { screenshot } from './screenshot.ts';

/** A file that somebody attaches. */
export interface EvidenceFile {
  filename: string;
  contentType: string;
  content: Buffer;
}

/** @returns what a tester attaches to a report: nothing, requests as they were sent, a picture, the output of a scan */
export function createEvidence(sighting: DemoFinding, chance: SeededRandom): EvidenceFile[] {
  const { location } = sighting;
  const files: EvidenceFile[] = [];
  if (location.type === 'ip') return chance.happens(60) ? [scanOutput(sighting)] : [];
  if (sighting.template.http !== undefined && chance.happens(35)) files.push(httpRequests(sighting));
  if (chance.happens(10)) files.push(screenshotOf(sighting));
  return files;
}

/** @returns what a tester attaches when a fix was verified */
export function retestReport({ template, values }: DemoFinding): EvidenceFile {
  const lines = [
    'Retest report',
    fillTemplate(template.title, values),
    `Severity ${template.severity}`,
    template.vector ?? 'Not scored',
    '',
    'The steps of the report were repeated:',
    '',
    ...template.steps.map(
      (step, index) => `${index + 1}.  ${fillTemplate(step, values).replaceAll('`', '')}`,
    ),
    '',
    'Result: the weakness is fixed.',
  ];
  return { filename: 'retest-report.pdf', contentType: 'application/pdf', content: renderPdf(lines) };
}

function httpRequests({ template, values }: DemoFinding): EvidenceFile {
  const messages = (template.http ?? []).map((message) => asRequest(message, values));
  return {
    filename: 'requests.http',
    contentType: 'text/plain',
    content: Buffer.from(messages.join('\r\n\r\n###\r\n\r\n')),
  };
}

function screenshotOf({ template, values, location }: DemoFinding): EvidenceFile {
  const steps = template.steps.map((step) => fillTemplate(step, values).replaceAll('`', ''));
  const content = screenshot(location.value, values.place, [
    `!${fillTemplate(template.title, values)}`,
    ...steps.flatMap((step, index) => wrapLines(`${index + 1}. ${step}`)).slice(0, 8),
  ]);
  return { filename: 'screenshot.png', contentType: 'image/png', content };
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

const COLUMNS = 80;

function wrapLines(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    const line = lines[last] === '' ? word : `${lines[last]} ${word}`;
    if (line.length <= COLUMNS) lines[last] = line;
    else lines.push(word);
  }
  return lines;
}
