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
  let textStart = 0;
  MARKUP.lastIndex = 0;
  for (let tag = MARKUP.exec(text); tag !== null; tag = MARKUP.exec(text)) {
    writer.text(text.slice(textStart, tag.index));
    const [match, slash, name = '', attributes = ''] = tag;
    textStart = tag.index + match.length;
    if (slash === undefined) continue;
    writer.tag(name.toLowerCase(), slash !== '', attributes);
  }
  writer.text(text.slice(textStart));
  return writer.end();
}

class MarkdownWriter {
  readonly #out: string[] = [];
  #tail = '\n\n';
  #pre = 0;
  #skippedTag: string | undefined;
  /** Next item numbers of open lists; 0 for bullet lists. */
  readonly #lists: number[] = [];
  readonly #links: string[] = [];

  text(raw: string): void {
    if (raw === '' || this.#skippedTag !== undefined) return;
    const text = decodeEntities(raw);
    if (this.#pre > 0) this.#write(text);
    else {
      const flat = text.replace(/\s+/g, ' ');
      this.#write(escapeMarkdown(/\s$/.test(this.#tail) ? flat.trimStart() : flat));
    }
  }

  tag(name: string, closes: boolean, attributes: string): void {
    if (this.#skippedTag !== undefined) {
      if (closes && name === this.#skippedTag) this.#skippedTag = undefined;
      return;
    }
    if (name === 'script' || name === 'style') {
      if (!closes) this.#skippedTag = name;
    } else if (name === 'pre') this.#fence(closes);
    else if (this.#pre > 0) {
      if (name === 'br') this.#write('\n');
    } else this.#element(name, closes, attributes);
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

  #element(name: string, closes: boolean, attributes: string): void {
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
        return this.#startParagraph();
      case 'li':
        return closes ? undefined : this.#item();
      case 'tr':
        return this.#startLine();
      case 'td':
      case 'th':
        return closes ? this.#write(' ') : undefined;
      default:
        if (BLOCKS.has(name)) this.#startParagraph();
        if (/^h[1-6]$/.test(name)) this.#write(closes ? '' : `${'#'.repeat(Number(name[1]))} `);
    }
  }

  #fence(closes: boolean): void {
    if (closes && this.#pre === 0) return;
    if (!closes && this.#pre === 0) {
      this.#startParagraph();
      this.#write('```\n');
    } else if (closes && this.#pre === 1) {
      this.#startLine();
      this.#write('```\n\n');
    }
    this.#pre += closes ? -1 : 1;
  }

  #beginLink(attributes: string): void {
    const [, double, single, bare] =
      /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
    const address = decodeEntities(double ?? single ?? bare ?? '').trim();
    const safeAddress = /^https?:\/\/[^\s<>()[\]]{1,2000}$/i.test(address) ? address : '';
    this.#links.push(safeAddress);
    if (safeAddress !== '') this.#write('[');
  }

  #endLink(): void {
    const address = this.#links.pop() ?? '';
    if (address !== '') this.#write(`](${address})`);
  }

  #item(): void {
    const level = this.#lists.length;
    const number = this.#lists[level - 1] ?? 0;
    if (number > 0) this.#lists[level - 1] = number + 1;
    this.#startLine();
    this.#write(`${'  '.repeat(Math.min(Math.max(level - 1, 0), 10))}${number > 0 ? `${number}.` : '-'} `);
  }

  #startLine(): void {
    if (!this.#tail.endsWith('\n')) this.#write('\n');
  }

  #startParagraph(): void {
    if (!this.#tail.endsWith('\n\n')) this.#write(this.#tail.endsWith('\n') ? '\n' : '\n\n');
  }

  #write(text: string): void {
    if (text === '') return;
    this.#out.push(text);
    this.#tail = text === '\n' && this.#tail.endsWith('\n') ? '\n\n' : text.slice(-2);
  }
}

/** Escapes Markdown, except markers at the start of a line, which are readable as they are. */
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
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (match, name: string) => {
    if (!name.startsWith('#')) return HTML_ENTITIES.get(name) ?? match;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const isValid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isValid ? String.fromCodePoint(code) : '�';
  });
}

/** @returns the distinct CVE ids in a text, in upper case */
export function extractCveIds(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(/\bCVE-\d{4}-\d{4,19}\b/gi), ([id]) => id.toUpperCase()))];
}

/** @returns the distinct CWE ids in a text (`CWE-79`, `cwe:79`, `CWE 79`) */
export function extractCweIds(text: string): string[] {
  const matches = text.matchAll(/\bCWE[-_: ]?(?:id[-_: ]?)?(\d{1,6})\b/gi);
  return [...new Set(Array.from(matches, ([, number]) => `CWE-${Number(number)}`))];
}

/** The named character references that reports use (WHATWG HTML, section 13.5), with their hexadecimal code points. */
const CODES = `
  nbsp:a0 amp:26 lt:3c gt:3e quot:22 apos:27 copy:a9 reg:ae trade:2122 deg:b0 plusmn:b1 micro:b5
  para:b6 sect:a7 middot:b7 bull:2022 hellip:2026 prime:2032 Prime:2033 lsquo:2018 rsquo:2019
  sbquo:201a ldquo:201c rdquo:201d bdquo:201e laquo:ab raquo:bb lsaquo:2039 rsaquo:203a ndash:2013
  mdash:2014 minus:2212 times:d7 divide:f7 frac12:bd frac14:bc frac34:be sup1:b9 sup2:b2 sup3:b3
  ordm:ba ordf:aa iexcl:a1 iquest:bf cent:a2 pound:a3 yen:a5 euro:20ac curren:a4 brvbar:a6 uml:a8
  not:ac shy:ad macr:af acute:b4 cedil:b8 larr:2190 uarr:2191 rarr:2192 darr:2193 harr:2194 rArr:21d2
  lArr:21d0 hArr:21d4 ne:2260 le:2264 ge:2265 equiv:2261 asymp:2248 infin:221e sum:2211 radic:221a
  ensp:2002 emsp:2003 thinsp:2009 zwnj:200c zwj:200d lrm:200e rlm:200f dagger:2020 Dagger:2021
  permil:2030 circ:2c6 tilde:2dc szlig:df AElig:c6 aelig:e6 OElig:152 oelig:153 Oslash:d8 oslash:f8
  Aring:c5 aring:e5 Ccedil:c7 ccedil:e7 ETH:d0 eth:f0 THORN:de thorn:fe Ntilde:d1 ntilde:f1 Agrave:c0
  Aacute:c1 Acirc:c2 Atilde:c3 Auml:c4 agrave:e0 aacute:e1 acirc:e2 atilde:e3 auml:e4 Egrave:c8
  Eacute:c9 Ecirc:ca Euml:cb egrave:e8 eacute:e9 ecirc:ea euml:eb Igrave:cc Iacute:cd Icirc:ce Iuml:cf
  igrave:ec iacute:ed icirc:ee iuml:ef Ograve:d2 Oacute:d3 Ocirc:d4 Otilde:d5 Ouml:d6 ograve:f2
  oacute:f3 ocirc:f4 otilde:f5 ouml:f6 Ugrave:d9 Uacute:da Ucirc:db Uuml:dc ugrave:f9 uacute:fa
  ucirc:fb uuml:fc Yacute:dd yacute:fd yuml:ff Scaron:160 scaron:161 Yuml:178 fnof:192 alpha:3b1
  beta:3b2 gamma:3b3 delta:3b4 Delta:394 epsilon:3b5 lambda:3bb mu:3bc pi:3c0 sigma:3c3 Sigma:3a3
  tau:3c4 omega:3c9 Omega:3a9 lpar:28 rpar:29 lsqb:5b rsqb:5d lbrack:5b rbrack:5d lcub:7b rcub:7d
  colon:3a semi:3b comma:2c period:2e excl:21 num:23 dollar:24 percnt:25 ast:2a plus:2b equals:3d
  quest:3f commat:40 bsol:5c sol:2f lowbar:5f grave:60 vert:7c NewLine:a Tab:9
`;

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map(
  CODES.trim()
    .split(/\s+/)
    .map((entry) => {
      const [name = '', code = ''] = entry.split(':');
      return [name, String.fromCodePoint(Number.parseInt(code, 16))];
    }),
);
