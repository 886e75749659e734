import { codeBlock, escapeInline, escapeLineStart } from './escape-markdown.ts';
import { TextBlocks } from './text-blocks.ts';

/** Lists that are nested deeper stay at this depth. */
const MAX_DEPTH = 6;
/** Characters. A paragraph whose lines are all shorter is not wrapped. */
const MIN_WIDTH = 40;
/** The share of the longest line that a wrapped line fills, with the next word. */
const FULL = 0.8;

/** Columns. Lines after a colon that are indented by at least this many may be commands. */
const EXAMPLE_INDENT = 4;

/** A sentence that needs no conversion, as most texts are. */
const PLAIN = /^(?![-\d])[^\n\r\\`*_[\]<&~|#>=+:•·▪●◦‣]*$/;
const ITEM = /^( *)(?:([-*•·▪●◦‣])|(\d{1,4})[.)])\s+(\S.*)$/;
const LABELLED = /^[a-z][\w /-]{0,30}:(?:\s|$)/i;
const URL_ONLY = /^https?:\/\/\S+$/;
/** A rule, a brace, or another line without words. */
const WORDLESS = /^[^\p{L}\p{N}]+$/u;
/** Two columns and the gap between them. */
const COLUMNS = /\S(?: {3}|\t)\s*\S/;
const FENCE = '```';
const FENCE_START = /^\s*```[a-z]*$/i;

/** An open item: the column of its marker in the text, and that of its content in the Markdown. */
interface OpenItem {
  indent: number;
  content: number;
  number: number;
}

/**
 * Converts plain text to Markdown that reads the same: paragraphs without their indentation and line wrap, lists, and
 * code blocks of lines that are in columns or between fences. Takes linear time.
 */
export function textToMarkdown(text: string): string {
  const trimmed = text.trim();
  if (PLAIN.test(trimmed)) return trimmed;
  return new TextConverter(trimmed.replace(/\r\n?/g, '\n').split('\n')).convert();
}

class TextConverter {
  readonly #lines: readonly string[];
  /** Columns that all lines but the first are indented. */
  readonly #indent: number;
  readonly #blocks = new TextBlocks();
  readonly #items: OpenItem[] = [];
  /** The lines of the current paragraph. */
  #paragraph: string[] = [];
  /** The marker of the item that the current paragraph begins. */
  #marker = '';
  /** Whether the last line ends with a colon, as before a list of commands. */
  #isAnnounced = false;

  constructor(lines: readonly string[]) {
    const [first = '', ...others] = lines.map((line) =>
      line.trimEnd().replace(/^\s+/, (spaces) => spaces.replaceAll('\t', '    ')),
    );
    // The first line has lost the indentation that all have.
    this.#indent = indentOf(others);
    this.#lines = [first, ...others.map((line) => line.slice(this.#indent))];
  }

  convert(): string {
    const lastFence = this.#lines.findLastIndex((line) => line.trimStart() === FENCE);
    for (let index = 0; index < this.#lines.length; index += 1) {
      const line = this.#lines[index] as string;
      if (index < lastFence && FENCE_START.test(line)) {
        const start = index + 1;
        do index += 1;
        while (this.#lines[index]?.trimStart() !== FENCE);
        this.#flush();
        this.#write(codeBlock(this.#lines.slice(start, index).join('\n')));
      } else if (line === '') this.#flush();
      else this.#add(line);
    }
    this.#flush();
    return this.#blocks.toString();
  }

  #add(line: string): void {
    const [, spaces = '', bullet, digits, content = ''] = ITEM.exec(line) ?? [];
    const number = bullet === undefined ? Number(digits) : 0;
    if (bullet === undefined && !this.#isNextNumber(spaces.length, number)) {
      if (this.#paragraph.length === 0) this.#closeItems(line.search(/\S/));
      this.#paragraph.push(line);
      return;
    }
    this.#flush();
    this.#closeItems(spaces.length);
    this.#marker = bullet === undefined ? `${digits}. ` : '- ';
    this.#paragraph.push(content);
    const start = this.#items.at(-1)?.content ?? 0;
    this.#items.push({ indent: spaces.length, content: start + this.#marker.length, number });
  }

  /** Another number is a part of a sentence, such as a version. */
  #isNextNumber(indent: number, number: number): boolean {
    if (number === 1) return true;
    const last = this.#items.findLast((item) => item.indent <= indent);
    return last !== undefined && last.indent === indent && last.number > 0 && last.number === number - 1;
  }

  /** Ends the items whose markers are not to the left of a column. */
  #closeItems(indent: number): void {
    const open = this.#items.findLastIndex((item) => item.indent < indent) + 1;
    this.#items.length = Math.min(open, MAX_DEPTH);
  }

  #flush(): void {
    const lines = this.#paragraph;
    if (lines.length === 0) return;
    this.#paragraph = [];
    const isColumns = (line: string): boolean => COLUMNS.test(line);
    const hasTable = lines.filter(isColumns).length > 1;
    const tableStart = hasTable ? lines.findIndex(isColumns) : lines.length;
    const isExample =
      this.#isAnnounced && this.#marker === '' && this.#indent + indentOf(lines) >= EXAMPLE_INDENT;
    if (tableStart > 0) this.#write(paragraphOf(lines.slice(0, tableStart), isExample));
    if (hasTable) this.#write(codeBlock(withoutIndent(lines.slice(tableStart))));
    this.#isAnnounced = lines.at(-1)?.endsWith(':') === true;
  }

  #write(text: string): void {
    this.#blocks.add(text, this.#items.at(-1)?.content ?? 0, this.#marker);
    this.#marker = '';
  }
}

/**
 * Joins wrapped lines; other line breaks stay.
 * @param isExample whether a line that begins in lower case may be a command
 */
function paragraphOf(lines: readonly string[], isExample: boolean): string {
  const width = lines.reduce((longest, line) => Math.max(longest, line.length), 0);
  const parts: string[][] = [];
  for (const [index, line] of lines.entries()) {
    if (index > 0 && isWrap(lines[index - 1] as string, line.trim(), width, isExample))
      parts.at(-1)?.push(line.trim());
    else parts.push([line.trim()]);
  }
  return parts.map((part) => escapeLineStart(escapeInline(part.join(' ')))).join('  \n');
}

function isWrap(previous: string, line: string, width: number, isExample: boolean): boolean {
  if (WORDLESS.test(previous) || WORDLESS.test(line)) return false;
  if (previous.endsWith(':') || URL_ONLY.test(previous.trim()) || URL_ONLY.test(line)) return false;
  if (LABELLED.test(line) && (/^[A-Z]/.test(line) || LABELLED.test(previous.trim()))) return false;
  if (!isExample && /^["'(*_`]?\p{Ll}/u.test(line)) return true;
  const [word = ''] = line.split(/\s/, 1);
  return width >= MIN_WIDTH && previous.length + 1 + word.length > FULL * width;
}

function withoutIndent(lines: readonly string[]): string {
  const indent = indentOf(lines);
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** @returns the columns that all lines are indented, except for empty ones */
function indentOf(lines: readonly string[]): number {
  const indent = lines.reduce(
    (least, line) => (line === '' ? least : Math.min(least, line.search(/\S/))),
    Infinity,
  );
  return indent === Infinity ? 0 : indent;
}
