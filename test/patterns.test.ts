import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';
import { describe, expect, it } from 'vitest';
import { networkPrefix, parseAddress } from '../src/auth/ip-addresses.ts';
import { readInvitationUid } from '../src/auth/account-links.ts';
import { isPersonalToken } from '../src/auth/secrets.ts';
import { isNestedDeeperThan } from '../src/http/json-bodies.ts';
import { LimitedXmlParser } from '../src/importers/parsing/limited-xml-parser.ts';
import { ReportError } from '../src/importers/report.ts';
import { parseFormParameters } from '../src/oauth/form-parameters.ts';

const SOURCES = join(import.meta.dirname, '../src');

/** In characters. A quadratic pattern takes about 250 ms for them, a linear one less than a millisecond. */
const LENGTH = 12_500;
const CAP_MILLISECONDS = 100;

interface Pattern {
  where: string;
  pattern: RegExp;
}

/** @returns every regular expression in the source and every `pattern` of a schema */
function patternsIn(file: string): Pattern[] {
  const text = readFileSync(join(SOURCES, file), 'utf8');
  const found: Pattern[] = [];
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
      found.push({
        where: `${file}: /${regex.pattern}/${regex.flags}`,
        pattern: new RegExp(regex.pattern, regex.flags),
      });
    if (type === 'Property' && key?.name === 'pattern' && typeof value?.value === 'string')
      found.push({ where: `${file}: ${value.value}`, pattern: new RegExp(value.value, 'u') });
    Object.values(node).forEach(visit);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}

const patterns = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap(patternsIn);

/** Prefixes that some pattern matches, so that it tests what follows. */
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

const MIDDLES = REPEATED.map((part) => part.repeat(LENGTH / part.length));

/** By prefix; created once and flattened, as V8 would flatten them for every pattern. */
const HOSTILE = new Map(
  BEGINNINGS.map((beginning) => [
    beginning,
    MIDDLES.flatMap((middle) =>
      ENDINGS.map((ending) => Buffer.from(beginning + middle + ending, 'latin1').toString('latin1')),
    ),
  ]),
);

function timed(work: (text: string) => unknown, text: string): number {
  const started = performance.now();
  work(text);
  return performance.now() - started;
}

/** Returns the first text that is too slow five times in a row, as one slow run may be due to the machine. */
function tooSlow(work: (text: string) => unknown, beginnings = BEGINNINGS): string | undefined {
  const slow = beginnings
    .flatMap((beginning) => HOSTILE.get(beginning) ?? [])
    .find((text) => [1, 2, 3, 4, 5].every(() => timed(work, text) > CAP_MILLISECONDS));
  return slow === undefined ? undefined : JSON.stringify(`${slow.slice(0, 30)}…${slow.slice(-3)}`);
}

describe('Regular expressions are linear', () => {
  it('are found wherever they are', () => {
    expect(patterns.length).toBeGreaterThan(60);
    expect(patterns.map(({ where }) => where)).toContain('auth/secrets.ts: /^[A-Za-z0-9._~-]{43,128}$/');
    expect(patterns.filter(({ where }) => where.startsWith('api/')).length).toBeGreaterThan(3);
  });

  it('are reported if they are not', () => {
    expect(tooSlow((text) => /\s+$/.test(text))).toMatch(/^" +…/);
  });

  it.each(patterns)('$where', ({ pattern }) => {
    const work = pattern.global
      ? (text: string) => text.replace(pattern, '')
      : (text: string) => pattern.exec(text);
    // An unanchored one is tried at every position anyway.
    expect(tooSlow(work, pattern.source.startsWith('^') ? BEGINNINGS : [''])).toBeUndefined();
  });
});

describe('Parsers of hostile text are linear', () => {
  const READERS: [string, (text: string) => unknown][] = [
    ['an address', parseAddress],
    ['a network', networkPrefix],
    ['a personal access token', isPersonalToken],
    ['an invitation', readInvitationUid],
    ['a form', (text) => parseFormParameters(text.replace(/[^\x20-\x7e]/g, ''), ['code'])],
    ['a nested body', (text) => isNestedDeeperThan(32, text)],
  ];
  it.each(READERS)('parse %s', (_name, read) => {
    const work = (text: string): void => {
      try {
        read(text);
      } catch {
        // It may reject the text, but quickly.
      }
    };
    expect(tooSlow(work)).toBeUndefined();
  });

  it.each([
    ['spaces in the document type', `<!DOCTYPE${' '.repeat(400_000)}x>`],
    ['spaces after its name', `<!DOCTYPE nmaprun${' '.repeat(400_000)}x>`],
    ['spaces after its kind', `<!DOCTYPE nmaprun SYSTEM${' '.repeat(400_000)}[`],
    ['many kinds', `<!DOCTYPE nmaprun${' PUBLIC'.repeat(60_000)}[]>`],
    ['an attribute', `<nmaprun a="${' '.repeat(400_000)}`],
    ['a comment', `<!--${'-'.repeat(400_000)}`],
    ['an instruction', `<?x ${'?'.repeat(400_000)}`],
    ['entities', `<nmaprun a="${'&amp;'.repeat(80_000)}&x;"`],
  ])('parse a report with %s', (_what, text) => {
    const started = performance.now();
    const handler = { open: () => undefined, close: () => undefined, text: () => undefined };
    const xml = new LimitedXmlParser(handler, ['nmaprun'], '');
    expect(() => {
      xml.write(Buffer.from(text));
      xml.end();
    }).toThrow(ReportError);
    expect(performance.now() - started).toBeLessThan(250);
  });
});
