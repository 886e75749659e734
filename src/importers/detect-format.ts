import { SaxesParser } from 'saxes';
import { REPORT_FORMATS } from './formats/index.ts';
import { StreamingTextDecoder } from './parsing/encodings.ts';
import type { ByteSource, ReportFormat, ReportSample } from './report.ts';

const MAX_SAMPLE = 1024 * 1024;
const MAX_DEPTH = 200;

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
    isComplete = part.length === chunk.length;
    if (!isComplete) break;
  }
  if (isComplete) text += decoder.end();
  const start = text.trimStart();
  if (start.startsWith('<')) {
    const root = rootOf(start);
    return root === undefined ? { text, lines: false } : { text, root, lines: false };
  }
  return /^[[{]/.test(start) ? { text, ...jsonOf(start) } : { text, lines: false };
}

/** @returns the root element, without namespace prefix */
function rootOf(text: string): ReportSample['root'] {
  let root: ReportSample['root'];
  const parser = new SaxesParser();
  parser.on('error', () => undefined);
  parser.on('opentag', ({ name, attributes }) => {
    root ??= { name: name.slice(name.indexOf(':') + 1), attributes };
  });
  for (let at = 0; at < text.length && root === undefined; at += 4_096)
    parser.write(text.slice(at, at + 4_096));
  return root;
}

function jsonOf(text: string): Pick<ReportSample, 'json' | 'lines'> {
  const { end, json } = firstJson(text);
  return { json, lines: end !== undefined && /^[^\S\n]*\n\s*[[{]/.test(text.slice(end, end + 1_024)) };
}

/**
 * Parses the first array or object of a text. If it is truncated, closes it after the last complete member.
 * @returns the value, and its end if the text contains it
 */
function firstJson(text: string): { end?: number; json?: unknown } {
  const closers: string[] = [];
  /** After the last complete value or opening bracket. */
  let safe = 0;
  for (let at = 0; at < text.length && closers.length <= MAX_DEPTH; at += 1) {
    const character = text[at];
    if (character === '"') {
      at += 1;
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    } else if (character === ',') safe = at;
    else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      safe = at + 1;
    } else if (character === '}' || character === ']') {
      closers.pop();
      safe = at + 1;
      if (closers.length === 0) return { end: safe, json: parsed(text.slice(0, safe)) };
    }
  }
  return { json: parsed(text.slice(0, safe) + closers.reverse().join('')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Some tools leave a comma before the end.
    try {
      return JSON.parse(text.slice(0, 16 * 1024).replace(/,(\s*[\]}])/g, '$1')) as unknown;
    } catch {
      return undefined;
    }
  }
}
