import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { parseAst } from 'vitest/node';
import { describe, expect, it } from 'vitest';
import { networkPrefix, parseAddress } from '../src/auth/ip-addresses.ts';
import { readInvitedUser } from '../src/auth/account-links.ts';
import { isPersonalToken } from '../src/auth/secrets.ts';
import { findExcess } from '../src/http/json-bodies.ts';
import { LimitedXmlParser } from '../src/importers/parsing/limited-xml-parser.ts';
import { ReportError } from '../src/importers/report.ts';
import { parseFormParameters } from '../src/oauth/form-parameters.ts';
import { isLinear } from './harness/growth.ts';

/** Folders of sources, by the prefix of their files in the names of tests. */
const SOURCES = {
  '': join(import.meta.dirname, '../src'),
  'console/': join(import.meta.dirname, '../console/src'),
};

interface Pattern {
  where: string;
  pattern: RegExp;
}

/** @returns every regular expression in the source and every `pattern` of a schema */
function patternsIn(file: string, path: string): Pattern[] {
  const text = readFileSync(path, 'utf8');
  const patterns: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      node.forEach(visit);
      return;
    }
    const { type, regex, key, value } = node as {
      type?: string;
      regex?: { pattern: string; flags: string };
      key?: { name?: string };
      value?: { value?: unknown };
    };
    if (type === 'Literal' && regex !== undefined)
      patterns.push({
        where: `${file}: /${regex.pattern}/${regex.flags}`,
        pattern: new RegExp(regex.pattern, regex.flags),
      });
    if (type === 'Property' && key?.name === 'pattern' && typeof value?.value === 'string')
      patterns.push({ where: `${file}: ${value.value}`, pattern: new RegExp(value.value, 'u') });
    Object.values(node).forEach(visit);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return patterns;
}

const patterns = Object.entries(SOURCES).flatMap(([prefix, folder]) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => patternsIn(prefix + file, join(folder, file))),
);

/** Prefixes that patterns match, so that they test the text after them. */
const BEGINNINGS = [
  '',
  'a',
  '1',
  '-',
  '/',
  'a@',
  'a.',
  '12:34: ',
  '123',
  'basic ',
  'nmaprun',
  'assay_',
  'https://',
  'http://127.0.0.1',
  'custom+scheme.a:',
  '/account/',
  '::ffff:',
  '[',
  'error: ',
  'signing-',
];
const REPEATED = [
  ...' \t\n\0aAz0_-.:/+=%,;@[(<"\\é!&?#~|',
  'ab',
  'a.',
  '-a',
  ' a',
  '/a',
  '1 ',
  '%20',
  '::',
  '\r\n',
];
const ENDINGS = ['', '\u0001', '\n\u0001'];

/** Texts of any length that a pattern reads almost to the end before it fails. */
type Hostile = (length: number) => string;

/**
 * Creates each text once, as a flat string: V8 stores a repeated text as a tree, and would flatten it for each pattern.
 */
function memoized(textOf: Hostile): Hostile {
  const texts = new Map<number, string>();
  return (length) => {
    let text = texts.get(length);
    if (text === undefined)
      texts.set(length, (text = Buffer.from(textOf(length), 'latin1').toString('latin1')));
    return text;
  };
}

const HOSTILE = new Map(
  BEGINNINGS.map((beginning) => [
    beginning,
    REPEATED.flatMap((part) =>
      ENDINGS.map((ending) => memoized((length) => beginning + part.repeat(length / part.length) + ending)),
    ),
  ]),
);

/** Characters. Exponential patterns are slow even for a text this short, and would not end for a longer one. */
const SHORT = 22;

/** @returns the first text for which work takes more than linear time, if any */
function tooSlow(work: (text: string) => unknown, beginnings = BEGINNINGS): string | undefined {
  const texts = beginnings.flatMap((beginning) => HOSTILE.get(beginning) ?? []);
  const isSlow = (textOf: Hostile) => [SHORT, undefined].some((length) => !isLinear(work, textOf, length));
  const slow = texts.find(isSlow);
  return slow === undefined ? undefined : JSON.stringify(slow(SHORT));
}

/** @returns the analysis of a pattern for texts that take more than linear time */
const findings = (pattern: RegExp): string[] =>
  analyse(pattern, { reportTypes: { Move: true, Self: true, Trade: true } }).reports.map(
    ({ type, exponential }) => `${type}${exponential ? ', exponential' : ''}`,
  );

/** Applies a pattern as the source does. */
const applying = (pattern: RegExp) =>
  pattern.global ? (text: string) => text.replace(pattern, '') : (text: string) => pattern.exec(text);

describe('Regular expressions are linear', () => {
  it('are found wherever they are', () => {
    expect(patterns.length).toBeGreaterThan(60);
    expect(patterns.map(({ where }) => where)).toContain('auth/secrets.ts: /^[A-Za-z0-9._~-]{43,128}$/');
    for (const folder of ['api/', 'console/pages/'])
      expect(patterns.filter(({ where }) => where.startsWith(folder)).length).toBeGreaterThan(3);
  });

  it('are reported if they are not, by the analysis or by their growth', () => {
    expect(findings(/x*x*y/)).toEqual(['Trade', 'Move', 'Move']);
    expect(findings(/^(\w+\s?)*$/)).toEqual(['Self, exponential']);
    expect(tooSlow(applying(/\s+$/))).toMatch(/^" +\\u0001"$/);
    // The analysis does not compare alternatives.
    expect(findings(/^(a|a)*$/)).toEqual([]);
    expect(tooSlow(applying(/^(a|a)*$/))).toMatch(/^"a+\\u0001"$/);
  });

  it.each(patterns)('$where', ({ pattern }) => {
    expect(findings(pattern)).toEqual([]);
    // Unanchored patterns are tried at every position.
    expect(tooSlow(applying(pattern), pattern.source.startsWith('^') ? BEGINNINGS : [''])).toBeUndefined();
  });
});

describe('Growth', () => {
  /** Work of this many steps, some nanoseconds each. */
  const takeSteps = (steps: number): number => {
    let sum = 0;
    for (let step = 0; step < steps; step += 1) sum = (sum * 31 + step) % 65_521;
    return sum;
  };
  const textOf = memoized((length) => 'x'.repeat(length));

  it('is linear if characters cost more in long texts, which leave the caches', () => {
    const work = ({ length }: string) => takeSteps(length * (length > 2_000 ? 250 : 50));
    expect(isLinear(work, textOf)).toBe(true);
  });

  it('is not linear if characters cost more with each doubling', () => {
    const work = ({ length }: string) => takeSteps(100 * length + (length * length) / 9);
    expect(isLinear(work, textOf, 8_000)).toBe(false);
  });
});

describe('Parsers of hostile text are linear', () => {
  const READERS: [string, (text: string) => unknown][] = [
    ['an address', parseAddress],
    ['a network', networkPrefix],
    ['a personal access token', isPersonalToken],
    ['an invitation', readInvitedUser],
    ['a form', (text) => parseFormParameters(text.replace(/[^\x20-\x7e]/g, ''), ['code'])],
    ['a nested body', (text) => findExcess(text, { depth: 32, values: 200_000 })],
  ];
  it.each(READERS)('parse %s', (_name, read) => {
    const work = (text: string): void => {
      try {
        read(text);
      } catch {
        // It may reject the text.
      }
    };
    expect(tooSlow(work)).toBeUndefined();
  });

  it.each<[what: string, textOf: Hostile]>([
    ['spaces in the document type', (length) => `<!DOCTYPE${' '.repeat(length)}x>`],
    ['spaces after its name', (length) => `<!DOCTYPE nmaprun${' '.repeat(length)}x>`],
    ['spaces after its kind', (length) => `<!DOCTYPE nmaprun SYSTEM${' '.repeat(length)}[`],
    ['many kinds', (length) => `<!DOCTYPE nmaprun${' PUBLIC'.repeat(length / 7)}[]>`],
    ['an attribute', (length) => `<nmaprun a="${' '.repeat(length)}`],
    ['a comment', (length) => `<!--${'-'.repeat(length)}`],
    ['an instruction', (length) => `<?x ${'?'.repeat(length)}`],
    ['entities', (length) => `<nmaprun a="${'&amp;'.repeat(length / 5)}&x;"`],
  ])('parse a report with %s', (_what, textOf) => {
    const handler = { open: () => undefined, close: () => undefined, text: () => undefined };
    const parse = (text: string): void => {
      const xml = new LimitedXmlParser(handler, { roots: ['nmaprun'], hint: '' });
      expect(() => {
        xml.write(Buffer.from(text));
        xml.end();
      }).toThrow(ReportError);
    };
    expect(isLinear(parse, textOf, 400_000)).toBe(true);
  });
});
