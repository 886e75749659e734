import { SaxesParser } from 'saxes';
import { StreamingTextDecoder } from './encodings.ts';
import { ReportError } from '../report.ts';

export interface ElementHandler {
  /** @param depth 1 for the root */
  open(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  close(name: string, depth: number): void;
  /** Text of the element for which `captureText` was called, and of its descendants. */
  text(text: string): void;
  /** Whether the elements that are open at the end of a fragment are complete. */
  mayStayOpen?(): boolean;
}

const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 128;
/** Characters of the longest tag, comment, text or declaration, which the parser buffers. */
const MAX_TOKEN = 8 * 1024 * 1024;
/** Characters that XML forbids and that are tolerated per report. */
const MAX_FORBIDDEN = 100_000;

const MISPLACED_PROLOG = /^(?:an XML declaration must be at the start|inappropriately located doctype)/;
const FORBIDDEN_CHARACTER = /^(?:disallowed character|malformed character entity)$/;
/** Errors in the XML declaration of a further document. */
const SECOND_DECLARATION = /^expected (?:one of )?(?:version|encoding)/;

export interface XmlParserOptions {
  /** Allowed document types; they may define elements but no entities. */
  roots: readonly string[];
  /** A sentence added to errors before the first element. */
  hint: string;
  /** Whether several documents may follow each other, whose elements may stay open. */
  isFragment?: boolean;
}

/**
 * A streaming XML parser for untrusted files: resolves only XML's five predefined entities, ignores document types and
 * uses bounded memory. Tolerates characters that XML forbids, because scanners copy what servers send, and white space,
 * comments and instructions before the declaration, because tools and people add them.
 */
export class LimitedXmlParser {
  readonly #parser: SaxesParser;
  /**
   * Sets the handler directly: `on` and `off` use a computed member name, and calling them for each element makes
   * parsing four times slower.
   */
  readonly #switch: { textHandler: ((text: string) => void) | undefined };
  readonly #decoder = new StreamingTextDecoder();
  readonly #handler: ElementHandler;
  readonly #hint: string;
  readonly #isFragment: boolean;
  readonly #takeText = (text: string): void => this.#handler.text(text);
  #depth = 0;
  /** Depth of the element whose text is captured; 0 for none. */
  #textDepth = 0;
  /** Attributes of the current tag. */
  #attributes = 0;
  #bytes = 0;
  #forbidden = 0;
  #ending = false;
  #sawRoot = false;
  /** Whether a character other than white space was read. */
  #hasBegun = false;
  /** Lines of white space before that character. */
  #blankLines = 0;
  /** The end of the last tag or CDATA section, as `position` counts. */
  #tagEnd = 0;

  constructor(handler: ElementHandler, { roots, hint, isFragment = false }: XmlParserOptions) {
    this.#handler = handler;
    this.#hint = hint;
    this.#isFragment = isFragment;
    const parser = new SaxesParser({ fragment: isFragment }) as SaxesParser;
    this.#parser = parser;
    // The types of saxes declare the member private.
    this.#switch = parser as unknown as { textHandler: undefined };
    parser.on('doctype', (doctype) => {
      const name = /^[^\s[]*/.exec(doctype.trim())?.[0] ?? '';
      if (!roots.includes(name) || doctype.includes('<!ENTITY'))
        this.fail(`The document type is not ${roots.join(' or ')}, or it defines entities.`);
    });
    parser.on('error', ({ message }) => this.#onError(message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')));
    parser.on('attribute', () => {
      this.#attributes += 1;
      if (this.#attributes > MAX_ATTRIBUTES)
        this.fail(`An element has more than ${MAX_ATTRIBUTES} attributes.`);
    });
    parser.on('opentag', ({ name, attributes }) => {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH && !isFragment)
        this.fail(`Elements are nested more than ${MAX_DEPTH} levels deep.`);
      this.#tagEnd = parser.position;
      this.#attributes = 0;
      this.#sawRoot = true;
      handler.open(name, attributes, this.#depth);
    });
    parser.on('closetag', ({ name }) => {
      this.#tagEnd = parser.position;
      if (this.#depth === this.#textDepth) this.#releaseText();
      handler.close(name, this.#depth);
      this.#depth -= 1;
    });
    parser.on('cdata', (text) => {
      this.#tagEnd = parser.position;
      if (this.#textDepth > 0) handler.text(text);
    });
  }

  /** Characters from the first that is not white space. */
  get position(): number {
    return this.#parser.position;
  }

  /** The line in the report, from 1. */
  get line(): number {
    return this.#parser.line + this.#blankLines;
  }

  /** Captures the text of the element that was just opened. */
  captureText(): void {
    this.#textDepth = this.#depth;
    this.#switch.textHandler = this.#takeText;
  }

  #releaseText(): void {
    this.#textDepth = 0;
    this.#switch.textHandler = undefined;
  }

  /** @throws ReportError, also from the handler */
  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#write(this.#decoder.decode(chunk));
    if (this.#parser.position - this.#tagEnd > MAX_TOKEN) {
      this.fail(`No tag ends within ${MAX_TOKEN / 1024 / 1024} MiB.`);
    }
  }

  /** @throws ReportError if the document is incomplete */
  end(): void {
    if (this.#bytes === 0) throw new ReportError('The report is empty.');
    this.#write(this.#decoder.end());
    this.#ending = true;
    if (this.#isFragment && !this.#sawRoot) this.fail('The report contains no element.');
    this.#parser.close();
  }

  #write(text: string): void {
    if (this.#hasBegun) return void this.#parser.write(text);
    const start = text.search(/\S/);
    const blank = start < 0 ? text : text.slice(0, start);
    this.#blankLines += blank.split('\n').length - 1;
    if (start < 0) return;
    this.#hasBegun = true;
    this.#parser.write(text.slice(start));
  }

  /** @throws ReportError with the current line */
  fail(message: string): never {
    throw new ReportError(this.#sawRoot ? message : `${message} ${this.#hint}`, { line: this.line });
  }

  #onError(message: string): void {
    if (this.#isTolerated(message)) return;
    this.fail(
      this.#ending
        ? `The report is truncated (${message}).`
        : `The report is not valid XML here (${message}).`,
    );
  }

  /** @param message of saxes, without position */
  #isTolerated(message: string): boolean {
    if (MISPLACED_PROLOG.test(message)) return this.#isFragment || !this.#sawRoot;
    if (FORBIDDEN_CHARACTER.test(message) && this.#sawRoot && !this.#ending) {
      this.#forbidden += 1;
      if (this.#forbidden > MAX_FORBIDDEN)
        this.fail('The report contains too many characters that XML forbids.');
      return true;
    }
    if (!this.#isFragment) return false;
    if (message.startsWith('unclosed tag')) return this.#handler.mayStayOpen?.() === true;
    return this.#sawRoot && SECOND_DECLARATION.test(message);
  }
}
