import type { Chance } from '../chance.ts';
import { asSent } from '../findings.ts';
import { type Sighting, told } from '../spots.ts';
import { report } from './report.ts';
import { screenshot } from './screenshot.ts';

/** A file that somebody attaches. */
export interface EvidenceFile {
  filename: string;
  contentType: string;
  content: Buffer;
}

/** @returns what a tester attaches to a report: nothing, requests as they were sent, a picture, the output of a scan */
export function evidenceOf(sighting: Sighting, chance: Chance): EvidenceFile[] {
  const { location } = sighting;
  const files: EvidenceFile[] = [];
  if (location.type === 'ip') return chance.happens(60) ? [scanOf(sighting)] : [];
  if (sighting.weakness.http !== undefined && chance.happens(35)) files.push(requestsOf(sighting));
  if (chance.happens(10)) files.push(pictureOf(sighting));
  return files;
}

/** @returns what a tester attaches when a fix was verified */
export function retestReport({ weakness, spot }: Sighting): EvidenceFile {
  const lines = [
    'Retest report',
    told(weakness.title, spot),
    `Severity ${weakness.severity}`,
    weakness.vector ?? 'Not scored',
    '',
    'The steps of the report were repeated:',
    '',
    ...weakness.steps.map((step, index) => `${index + 1}.  ${told(step, spot).replaceAll('`', '')}`),
    '',
    'Result: the weakness is fixed.',
  ];
  return { filename: 'retest-report.pdf', contentType: 'application/pdf', content: report(lines) };
}

function requestsOf({ weakness, spot }: Sighting): EvidenceFile {
  const messages = (weakness.http ?? []).map((message) => asSent(message, spot));
  return {
    filename: 'requests.http',
    contentType: 'text/plain',
    content: Buffer.from(messages.join('\r\n\r\n###\r\n\r\n')),
  };
}

function pictureOf({ weakness, spot, location }: Sighting): EvidenceFile {
  const steps = weakness.steps.map((step) => told(step, spot).replaceAll('`', ''));
  const content = screenshot(location.value, spot.place, [
    `!${told(weakness.title, spot)}`,
    ...steps.flatMap((step, index) => wrapped(`${index + 1}. ${step}`)).slice(0, 8),
  ]);
  return { filename: 'screenshot.png', contentType: 'image/png', content };
}

function scanOf({ spot }: Sighting): EvidenceFile {
  const protocol = spot.port === '161' || spot.port === '123' ? 'udp' : 'tcp';
  const lines = [
    `# nmap -sV -p ${spot.port} ${spot.address}`,
    `Nmap scan report for ${spot.host} (${spot.address})`,
    'Host is up (0.00042s latency).',
    '',
    'PORT      STATE',
    `${`${spot.port}/${protocol}`.padEnd(10)}open`,
    '',
  ];
  return { filename: 'scan.txt', contentType: 'text/plain', content: Buffer.from(lines.join('\n')) };
}

const COLUMNS = 80;

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    const line = lines[last] === '' ? word : `${lines[last]} ${word}`;
    if (line.length <= COLUMNS) lines[last] = line;
    else lines.push(word);
  }
  return lines;
}
