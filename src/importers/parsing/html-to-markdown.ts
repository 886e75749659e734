import { codeBlock, codeSpan, escapeInline, escapeLabel, escapeLineStart } from './escape-markdown.ts';
import { decodeEntities } from './html-entities.ts';
import { TextBlocks } from './text-blocks.ts';

/** Characters; longer input is cut before parsing, because stored texts are far shorter. */
const MAX_HTML = 256 * 1024;
/** Deeper lists stay at this depth; deeper emphasis and links are ignored. */
const MAX_DEPTH = 10;
const MAX_LISTS = 100;

/** Tags, comments and declarations. Unambiguous, so that matching takes linear time. */
const MARKUP = /<(?:!--[^]*?(?:-->|$)|[!?][^<>]*>|(\/?)([a-z][a-z0-9]*)((?:[\s/][^<>]*)?)>)/gi;
const BLOCKS = new Set(
  'p div section article header footer table tbody thead dl dd dt blockquote form fieldset hr'.split(' '),
);
const SPANS: ReadonlyMap<string, SpanKind> = new Map([
  ['b', 'strong'],
  ['strong', 'strong'],
  ['i', 'em'],
  ['em', 'em'],
  ['code', 'code'],
  ['tt', 'code'],
  ['a', 'a'],
]);

type SpanKind = 'strong' | 'em' | 'code' | 'a';

/** Writes texts and elements as Markdown or as plain text. */
interface Syntax {
  text(text: string): string;
  /** A text within a link. */
  label(text: string): string;
  /** A complete line outside of code. */
  line(line: string): string;
  lineBreak: string;
  heading(level: number): string;
  span(kind: SpanKind, content: string): string;
  link(label: string, address: string): string;
  preformatted(text: string): string;
}

const itself = (text: string): string => text;
const MARKDOWN: Syntax = {
  text: escapeInline,
  label: escapeLabel,
  // Markers of lists stay, because they read as such. ZAP writes lists as paragraphs with an asterisk.
  line(line) {
    const marked = line.replace(/^\\\*(?= \S)/, '-');
    return /^(?:[-+]|\d{1,9}[.)])\s+[^\s-]/.test(marked) ? marked : escapeLineStart(line);
  },
  lineBreak: '  \n',
  heading: (level) => `${'#'.repeat(level)} `,
  span(kind, content) {
    if (kind === 'code') return codeSpan(content);
    return kind === 'em' ? `*${content}*` : `**${content}**`;
  },
  link: (label, address) =>
    label === escapeLabel(address) ? escapeInline(address) : `[${label}](${address})`,
  preformatted: codeBlock,
};
const PLAIN_TEXT: Syntax = {
  text: itself,
  label: itself,
  line: itself,
  lineBreak: '\n',
  heading: () => '',
  span: (_kind, content) => content,
  link: (label, address) => (label === address ? address : `${label} (${address})`),
  preformatted: itself,
};

/**
 * Converts HTML to Markdown: keeps paragraphs, lists, code, emphasis and links, drops scripts and styles, and replaces
 * other tags by their text. Takes linear time, whatever the nesting.
 */
export function htmlToMarkdown(html: string): string {
  return convert(html, MARKDOWN);
}

/** Converts HTML to plain text with paragraphs and lists, for evidence, which is not Markdown. */
export function htmlToText(html: string): string {
  return convert(html, PLAIN_TEXT);
}

function convert(html: string, syntax: Syntax): string {
  const writer = new HtmlWriter(syntax);
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

/** An element within a line that is not closed yet; the first one is the line itself. */
interface Span {
  kind: SpanKind | undefined;
  address: string;
  parts: string[];
}

interface List {
  /** The number of the next item; 0 for bullets. */
  next: number;
  /** The columns of its items and of the content of the current one. */
  indent: number;
  content: number;
}

class HtmlWriter {
  readonly #syntax: Syntax;
  readonly #blocks = new TextBlocks();
  readonly #lists: List[] = [];
  #spans: Span[] = [{ kind: undefined, address: '', parts: [] }];
  /** Text since the last tag that was not ignored. */
  #raw = '';
  #endsWithSpace = true;
  /** The marker or the heading that the next block begins with. */
  #marker = '';
  #heading = '';
  #skippedTag: string | undefined;
  #preDepth = 0;
  #preformatted: string[] = [];

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
  }

  text(raw: string): void {
    if (this.#skippedTag !== undefined) return;
    if (this.#preDepth > 0) this.#preformatted.push(decodeEntities(raw));
    else this.#raw += raw;
  }

  tag(name: string, closes: boolean, attributes: string): void {
    if (this.#skippedTag !== undefined) {
      if (closes && name === this.#skippedTag) this.#skippedTag = undefined;
    } else if (name === 'script' || name === 'style') {
      if (!closes) this.#skippedTag = name;
    } else if (name === 'pre') this.#pre(closes);
    else if (this.#preDepth > 0) {
      if (name === 'br') this.#preformatted.push('\n');
    } else this.#element(name, closes, attributes);
  }

  end(): string {
    if (this.#preDepth > 0) this.#endPre();
    this.#endBlock();
    return this.#blocks.toString();
  }

  #element(name: string, closes: boolean, attributes: string): void {
    const kind = SPANS.get(name);
    if (kind !== undefined) return closes ? this.#endSpan(kind) : this.#beginSpan(kind, attributes);
    switch (name) {
      case 'br':
        return this.#break();
      case 'tr':
        return closes ? undefined : this.#break();
      case 'td':
      case 'th':
        if (closes) this.#raw += ' ';
        return;
      case 'ul':
      case 'ol':
        this.#endBlock();
        if (closes) this.#lists.pop();
        else this.#beginList(name === 'ol' ? 1 : 0);
        return;
      case 'li':
        return this.#item(closes);
      default:
        if (BLOCKS.has(name)) this.#endBlock();
        if (!/^h[1-6]$/.test(name)) return;
        this.#endBlock();
        this.#heading = closes ? '' : this.#syntax.heading(Number(name[1]));
    }
  }

  #beginList(next: number): void {
    const parent = this.#lists.at(-1);
    const indent = this.#lists.length < MAX_DEPTH ? (parent?.content ?? 0) : (parent?.indent ?? 0);
    if (this.#lists.length < MAX_LISTS) this.#lists.push({ next, indent, content: indent });
  }

  #item(closes: boolean): void {
    this.#endBlock();
    if (this.#lists.length === 0) this.#beginList(0);
    const list = this.#lists.at(-1) as List;
    this.#marker = closes ? '' : list.next > 0 ? `${list.next}. ` : '- ';
    if (!closes && list.next > 0) list.next += 1;
    list.content = list.indent + this.#marker.length;
  }

  #pre(closes: boolean): void {
    if (!closes) {
      if (this.#preDepth === 0) this.#endBlock();
      this.#preDepth += 1;
    } else if (this.#preDepth === 1) this.#endPre();
    else if (this.#preDepth > 1) this.#preDepth -= 1;
  }

  #endPre(): void {
    const text = this.#preformatted.join('').replace(/^\n/, '');
    this.#preDepth = 0;
    this.#preformatted = [];
    if (text.trim() !== '') this.#write(this.#syntax.preformatted(text));
  }

  #break(): void {
    this.#endText();
    this.#spans.at(-1)?.parts.push('\n');
    this.#endsWithSpace = true;
  }

  #beginSpan(kind: SpanKind, attributes: string): void {
    const isIgnored = this.#spans.some((span) => span.kind === kind || span.kind === 'code');
    if (isIgnored || this.#spans.length > MAX_DEPTH) return;
    this.#endText();
    this.#spans.push({ kind, address: kind === 'a' ? addressIn(attributes) : '', parts: [] });
  }

  #endSpan(kind: SpanKind): void {
    const start = this.#spans.findLastIndex((span) => span.kind === kind);
    if (start === -1) return;
    this.#endText();
    while (this.#spans.length > start) this.#closeSpan();
  }

  /** Writes white space at the ends of a span beside it, because Markdown allows none within. */
  #closeSpan(): void {
    const { kind, address, parts } = this.#spans.pop() as Span;
    const content = parts.join('');
    const inner = content.trim();
    const outer = this.#spans.at(-1) as Span;
    if (kind === undefined || inner === '' || (kind === 'a' && address === '')) {
      outer.parts.push(content);
      return;
    }
    const start = content.length - content.trimStart().length;
    const written = kind === 'a' ? this.#syntax.link(inner, address) : this.#syntax.span(kind, inner);
    outer.parts.push(content.slice(0, start), written, content.slice(start + inner.length));
  }

  #endText(): void {
    if (this.#raw === '') return;
    const flat = decodeEntities(this.#raw).replace(/\s+/g, ' ');
    const text = this.#endsWithSpace ? flat.trimStart() : flat;
    this.#raw = '';
    if (text === '') return;
    this.#endsWithSpace = text.endsWith(' ');
    const kinds = this.#spans.map(({ kind }) => kind);
    const isLink = kinds.includes('a');
    const escaped = isLink ? this.#syntax.label(text) : this.#syntax.text(text);
    this.#spans.at(-1)?.parts.push(kinds.includes('code') ? text : escaped);
  }

  #endBlock(): void {
    this.#endText();
    while (this.#spans.length > 1) this.#closeSpan();
    const lines = this.#spans[0]?.parts.join('').split('\n') ?? [];
    this.#spans = [{ kind: undefined, address: '', parts: [] }];
    this.#endsWithSpace = true;
    const heading = this.#heading;
    if (heading !== '') {
      const text = lines.join(' ').trim();
      if (text !== '') this.#write(heading + text);
      return;
    }
    let paragraph: string[] = [];
    for (const line of [...lines, '']) {
      if (line.trim() !== '') paragraph.push(this.#syntax.line(line.trim()));
      else if (paragraph.length > 0) {
        this.#write(paragraph.join(this.#syntax.lineBreak));
        paragraph = [];
      }
    }
  }

  #write(text: string): void {
    this.#blocks.add(text, this.#lists.at(-1)?.content ?? 0, this.#marker);
    this.#marker = '';
  }
}

/** @returns the web address of a link; empty if it has another */
function addressIn(attributes: string): string {
  const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
  const address = decodeEntities(double ?? single ?? bare ?? '').trim();
  return /^https?:\/\/[^\s<>()[\]\\]{1,2000}$/i.test(address) ? address : '';
}
