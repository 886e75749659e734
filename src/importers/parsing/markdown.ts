import { HTML_ENTITIES } from './html-entities.ts';

/** Characters; longer input is cut before parsing, because stored texts are far shorter. */
const MAX_HTML = 256 * 1024;

/** Tags, comments and declarations. Unambiguous, so that matching takes linear time. */
const MARKUP = /<(?:!--[^]*?(?:-->|$)|[!?][^<>]*>|(\/?)([a-z][a-z0-9]*)((?:[\s/][^<>]*)?)>)/gi;
const BLOCKS = new Set(
  'p div section article header footer table tbody thead ul ol dl dd dt blockquote form fieldset h1 h2 h3 h4 h5 h6 hr'.split(
    ' ',
  ),
);

/**
 * Converts HTML to Markdown: keeps paragraphs, lists, code, emphasis and links, drops scripts and styles, and replaces
 * other tags by their text. Takes linear time, whatever the nesting.
 */
export function htmlToMarkdown(html: string): string {
  const writer = new MarkdownWriter();
  const text = html.slice(0, MAX_HTML);
  let at = 0;
  MARKUP.lastIndex = 0;
  for (let found = MARKUP.exec(text); found !== null; found = MARKUP.exec(text)) {
    writer.text(text.slice(at, found.index));
    const [match, slash, name = '', attributes = ''] = found;
    at = found.index + match.length;
    if (slash === undefined) continue;
    writer.tag(name.toLowerCase(), slash !== '', attributes);
  }
  writer.text(text.slice(at));
  return writer.end();
}

class MarkdownWriter {
  readonly #out: string[] = [];
  /** The end of the output. */
  #tail = '\n\n';
  #pre = 0;
  #quiet: string | undefined;
  /** Next item numbers of open lists; 0 for bullet lists. */
  readonly #lists: number[] = [];
  readonly #links: string[] = [];

  text(raw: string): void {
    if (raw === '' || this.#quiet !== undefined) return;
    const text = decodeEntities(raw);
    if (this.#pre > 0) this.#write(text);
    else {
      const flat = text.replace(/\s+/g, ' ');
      this.#write(escapeMarkdown(/\s$/.test(this.#tail) ? flat.trimStart() : flat));
    }
  }

  tag(name: string, closes: boolean, attributes: string): void {
    if (this.#quiet !== undefined) {
      if (closes && name === this.#quiet) this.#quiet = undefined;
      return;
    }
    if (name === 'script' || name === 'style') {
      if (!closes) this.#quiet = name;
    } else if (name === 'pre') this.#fence(closes);
    else if (this.#pre > 0) {
      if (name === 'br') this.#write('\n');
    } else this.#inline(name, closes, attributes);
  }

  end(): string {
    if (this.#pre > 0) this.#fence(true);
    const lines = this.#out.join('').split('\n');
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  #inline(name: string, closes: boolean, attributes: string): void {
    switch (name) {
      case 'br':
        return this.#write('\n');
      case 'b':
      case 'strong':
        return this.#write('**');
      case 'i':
      case 'em':
        return this.#write('*');
      case 'code':
      case 'tt':
        return this.#write('`');
      case 'a':
        return closes ? this.#endLink() : this.#beginLink(attributes);
      case 'ul':
      case 'ol':
        if (closes) this.#lists.pop();
        else if (this.#lists.length < 100) this.#lists.push(name === 'ol' ? 1 : 0);
        return this.#break();
      case 'li':
        return closes ? undefined : this.#item();
      case 'tr':
        return this.#line();
      case 'td':
      case 'th':
        return closes ? this.#write(' ') : undefined;
      default:
        if (BLOCKS.has(name)) this.#break();
        if (/^h[1-6]$/.test(name)) this.#write(closes ? '' : `${'#'.repeat(Number(name[1]))} `);
    }
  }

  #fence(closes: boolean): void {
    if (closes && this.#pre === 0) return;
    if (!closes && this.#pre === 0) {
      this.#break();
      this.#write('```\n');
    } else if (closes && this.#pre === 1) {
      this.#line();
      this.#write('```\n\n');
    }
    this.#pre += closes ? -1 : 1;
  }

  #beginLink(attributes: string): void {
    const [, double, single, bare] =
      /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
    const address = decodeEntities(double ?? single ?? bare ?? '').trim();
    const usable = /^https?:\/\/[^\s<>()[\]]{1,2000}$/i.test(address) ? address : '';
    this.#links.push(usable);
    if (usable !== '') this.#write('[');
  }

  #endLink(): void {
    const address = this.#links.pop() ?? '';
    if (address !== '') this.#write(`](${address})`);
  }

  #item(): void {
    const level = this.#lists.length;
    const number = this.#lists[level - 1] ?? 0;
    if (number > 0) this.#lists[level - 1] = number + 1;
    this.#line();
    this.#write(`${'  '.repeat(Math.min(Math.max(level - 1, 0), 10))}${number > 0 ? `${number}.` : '-'} `);
  }

  #line(): void {
    if (!this.#tail.endsWith('\n')) this.#write('\n');
  }

  #break(): void {
    if (!this.#tail.endsWith('\n\n')) this.#write(this.#tail.endsWith('\n') ? '\n' : '\n\n');
  }

  #write(text: string): void {
    if (text === '') return;
    this.#out.push(text);
    this.#tail = text === '\n' && this.#tail.endsWith('\n') ? '\n\n' : text.slice(-2);
  }
}

/** Does not escape markers at the start of a line, which read as well as text. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<]/g, (character) => (character === '<' ? '&lt;' : `\\${character}`));
}

/** Escapes a plain text so that Markdown shows it unchanged. */
export function textToMarkdown(text: string): string {
  return text
    .trim()
    .replace(/\r\n?/g, '\n')
    .replace(/[\\`*_[\]<]/g, (character) => (character === '<' ? '&lt;' : `\\${character}`))
    .replace(/^([ \t]{0,3})([#>+-]|\d{1,9}[.)])(?=\s|$)/gm, (_all, space: string, character: string) =>
      character.length > 1
        ? `${space}${character.slice(0, -1)}\\${character.slice(-1)}`
        : `${space}\\${character}`,
    );
}

/** Wraps any text in a Markdown code block (CommonMark 0.31, section 4.5). */
export function codeBlock(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\r\n?/g, '\n').replace(/\n$/, '')}\n${fence}`;
}

/** Decodes HTML character references; unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (match, name: string) => {
    if (!name.startsWith('#')) return HTML_ENTITIES.get(name) ?? match;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const usable = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return usable ? String.fromCodePoint(code) : '�';
  });
}

/** @returns the distinct CVE ids in a text, in upper case */
export function extractCveIds(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(/\bCVE-\d{4}-\d{4,19}\b/gi), ([id]) => id.toUpperCase()))];
}

/** @returns the distinct CWE ids in a text (`CWE-79`, `cwe:79`, `CWE 79`) */
export function extractCweIds(text: string): string[] {
  const found = text.matchAll(/\bCWE[-_: ]?(?:id[-_: ]?)?(\d{1,6})\b/gi);
  return [...new Set(Array.from(found, ([, number]) => `CWE-${Number(number)}`))];
}
