import { burp } from './burp/burp.ts';
import { cyclonedx } from './cyclonedx/cyclonedx.ts';
import { nessus } from './nessus/nessus.ts';
import { nikto } from './nikto/nikto.ts';
import { nmap } from './nmap/nmap.ts';
import { npmAudit } from './npm-audit/npm-audit.ts';
import { nuclei } from './nuclei/nuclei.ts';
import { openvas } from './openvas/openvas.ts';
import { sarif } from './sarif/sarif.ts';
import { testssl } from './testssl/testssl.ts';
import { trivy } from './trivy/trivy.ts';
import { wapiti } from './wapiti/wapiti.ts';
import { zap } from './zap/zap.ts';
import type { ReportFormat, ByteSource, ReportSample } from '../report.ts';
import { csv } from './csv/csv.ts';
import { generic } from './generic/generic.ts';
import { httpx } from './httpx/httpx.ts';
import { masscan } from './masscan/masscan.ts';
import { naabu } from './naabu/naabu.ts';
import { SaxesParser } from 'saxes';
import { StreamingTextDecoder } from '../parsing/encodings.ts';

/** Every report format, in the order in which people see them. */
export const REPORT_FORMATS: readonly ReportFormat[] = [
  nmap,
  masscan,
  naabu,
  httpx,
  nuclei,
  sarif,
  zap,
  burp,
  nessus,
  openvas,
  trivy,
  nikto,
  testssl,
  wapiti,
  cyclonedx,
  npmAudit,
  generic,
  csv,
];

export function findFormat(name: string): ReportFormat | undefined {
  return REPORT_FORMATS.find((format) => format.name === name);
}

/** Bytes of a report that are examined. This blocks the main thread on every upload, so it must take milliseconds. */
export const MAX_SAMPLE = 256 * 1024;
/** Characters up to the end of the root's start tag, which the parser reads one by one. */
const MAX_PROLOG = 128 * 1024;
/** Errors before the root element. */
const MAX_ERRORS = 20;
const MAX_DEPTH = 200;
/** JSON values that are parsed. */
const MAX_VALUES = 10;
/** Characters of invalid JSON that are parsed. */
const MAX_INVALID = 16 * 1024;
/** Characters that are scanned or parsed, counting those of each attempt. */
const MAX_EXAMINED = 3 * MAX_SAMPLE;

/** @returns every format that matches the sample */
export function matchingFormats(sample: ReportSample): ReportFormat[] {
  return REPORT_FORMATS.filter((format) => format.detect(sample));
}

export async function readSample(source: ByteSource): Promise<ReportSample> {
  const decoder = new StreamingTextDecoder();
  let text = '';
  let size = 0;
  let isComplete = true;
  for await (const chunk of source()) {
    const part = chunk.subarray(0, MAX_SAMPLE - size);
    text += decoder.decode(part);
    size += part.length;
    isComplete = size < MAX_SAMPLE;
    if (!isComplete) break;
  }
  if (isComplete) text += decoder.end();
  const start = text.trimStart();
  if (start.startsWith('<')) {
    const root = rootOf(start);
    return root === undefined ? { text, records: [] } : { text, root, records: [] };
  }
  return { text, ...jsonIn(text) };
}

/** Stops the parser, which would otherwise continue after each error and create a stack trace. */
const STOP = new Error('stopped');

/** @returns the root element, without namespace prefix */
function rootOf(text: string): ReportSample['root'] {
  let root: ReportSample['root'];
  let errors = 0;
  const parser = new SaxesParser();
  parser.on('error', () => {
    errors += 1;
    if (errors >= MAX_ERRORS) throw STOP;
  });
  parser.on('opentag', ({ name, attributes }) => {
    root = { name: name.slice(name.indexOf(':') + 1), attributes };
    throw STOP;
  });
  try {
    parser.write(text.slice(0, MAX_PROLOG));
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return root;
}

/**
 * Finds the JSON objects or arrays that begin a line: tools also write their log there. An empty one counts only if no
 * other follows.
 */
function jsonIn(text: string): Pick<ReportSample, 'json' | 'records'> {
  const values: unknown[] = [];
  let empty: unknown;
  let examined = 0;
  // Not `[INF] …` of a log.
  const opening = /^[ \t]*[[{](?=["{}[\]\s]|$)/gm;
  for (let tries = 0; tries < MAX_VALUES && examined < MAX_EXAMINED; tries += 1) {
    const match = opening.exec(text);
    if (match === null) break;
    const { json, end, cost } = parseBeginning(text, match.index + match[0].length - 1);
    examined += cost;
    if (typeof json === 'object' && json !== null && Object.keys(json).length > 0) {
      values.push(json);
      // Continues after the value, so that values inside it are not found.
      opening.lastIndex = Math.max(opening.lastIndex, end);
    } else if (json !== undefined) empty = json;
  }
  const [json = empty] = values;
  return { json, records: Array.isArray(json) ? json : values };
}

/**
 * Parses the array or object that begins at an index. If it is truncated or invalid, keeps the members before that.
 * @returns the value, where it ends in the text, and the characters that were scanned or parsed for it
 */
function parseBeginning(text: string, start: number): { json?: unknown; end: number; cost: number } {
  const { closed, end, scanned } = closeBefore(text, start, text.length);
  let cost = scanned;
  try {
    return { json: JSON.parse(closed), end, cost };
  } catch {
    // Below: up to the error. If a text can be parsed, so can all shorter ones.
  }
  let json: unknown;
  let [valid, invalid] = [start, Math.min(end, start + MAX_INVALID)];
  while (valid + 1 < invalid) {
    const middle = (valid + invalid) >> 1;
    cost += middle - start;
    try {
      json = JSON.parse(closeBefore(text, start, middle).closed);
      valid = middle;
    } catch {
      invalid = middle;
    }
  }
  return { json, end: valid, cost };
}

/**
 * @returns the value up to the last complete member before `limit`, with its brackets closed, where it ends, and the
 *   number of characters that were scanned
 */
function closeBefore(
  text: string,
  start: number,
  limit: number,
): { closed: string; end: number; scanned: number } {
  const closers: string[] = [];
  /** After the last complete value or opening bracket. */
  let safe = start;
  let index = start;
  for (; index < limit && closers.length <= MAX_DEPTH; index += 1) {
    const character = text[index];
    if (character === '"') {
      index += 1;
      while (index < limit && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
    } else if (character === ',') safe = index;
    else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      safe = index + 1;
    } else if (character === '}' || character === ']') {
      closers.pop();
      safe = index + 1;
      if (closers.length === 0) break;
    }
  }
  return {
    closed: text.slice(start, safe) + closers.toReversed().join(''),
    end: safe,
    scanned: Math.min(index, limit) - start,
  };
}
