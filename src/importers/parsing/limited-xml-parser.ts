import { SaxesParser } from 'saxes';
import { ReportError } from '../report.ts';
import { StreamingTextDecoder } from './streaming-text-decoder.ts';

export interface ElementHandler {
  /** @param depth 1 for the root */
  open(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  close(name: string, depth: number): void;
  /** The text of the element that `captureText` was called for, and of those in it. */
  text(text: string): void;
}

const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 128;
/** The longest tag, comment, text or declaration, in characters: what the parser may have to hold at once. */
const MAX_TOKEN = 8 * 1024 * 1024;
/** How many characters that XML forbids are read over. */
const MAX_FORBIDDEN = 100_000;

/**
 * A streaming XML parser for files that nobody vouches for: it resolves no entity but XML's own five, follows no
 * document type, and holds a bounded part of the file, whatever stands in it. Characters that XML forbids, and
 * references to such, are left as they are: scanners write what servers send.
 */
export class LimitedXmlParser {
  readonly #parser: SaxesParser = new SaxesParser();
  /** Its `on` and `off` name the member by a variable: called for each element, they make parsing take four times as long. */
  readonly #switch = this.#parser as unknown as { textHandler: ((text: string) => void) | undefined };
  readonly #decoder = new StreamingTextDecoder();
  readonly #handler: ElementHandler;
  readonly #hint: string;
  readonly #takeText = (text: string): void => this.#handler.text(text);
  #depth = 0;
  /** Of the element whose text is asked for; 0 for none. */
  #textDepth = 0;
  /** Of the tag that is being read. */
  #attributes = 0;
  #bytes = 0;
  #forbidden = 0;
  #ending = false;
  #sawRoot = false;
  /** Where the last tag ended, in characters. */
  #tagEnd = 0;

  /**
   * @param roots what the document type may be, which may define elements, and no entity
   * @param hint a sentence for what is refused before the first element
   */
  constructor(handler: ElementHandler, roots: readonly string[], hint: string) {
    this.#handler = handler;
    this.#hint = hint;
    const parser = this.#parser;
    parser.on('xmldecl', ({ version }) => {
      if (version !== '1.0') this.fail(`The report is XML ${version}, and only XML 1.0 is read.`);
    });
    parser.on('doctype', (doctype) => {
      const name = /^[^\s[]*/.exec(doctype.trim())?.[0] ?? '';
      if (!roots.includes(name) || doctype.includes('<!ENTITY'))
        this.fail(`The document type is not that of ${roots.join(' or ')}, or defines entities.`);
    });
    parser.on('error', ({ message }) => this.#note(message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')));
    parser.on('attribute', () => {
      this.#attributes += 1;
      if (this.#attributes > MAX_ATTRIBUTES)
        this.fail(`An element has more than ${MAX_ATTRIBUTES} attributes.`);
    });
    parser.on('opentag', ({ name, attributes }) => {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) this.fail(`Elements are nested more than ${MAX_DEPTH} deep.`);
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

  /** Where the parser is, in characters from the start. */
  get position(): number {
    return this.#parser.position;
  }

  /** Where the parser is, from 1. */
  get line(): number {
    return this.#parser.line;
  }

  /** Asks for the text of the element that was opened just now. */
  captureText(): void {
    this.#textDepth = this.#depth;
    this.#switch.textHandler = this.#takeText;
  }

  #releaseText(): void {
    this.#textDepth = 0;
    this.#switch.textHandler = undefined;
  }

  /** @throws ReportError, also for whatever the handler refuses */
  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#parser.write(this.#decoder.decode(chunk));
    if (this.#parser.position - this.#tagEnd > MAX_TOKEN) {
      this.fail(`No tag ends within ${MAX_TOKEN / 1024 / 1024} MiB.`);
    }
  }

  /** @throws ReportError when the document is not complete */
  end(): void {
    if (this.#bytes === 0) throw new ReportError('The report is empty.');
    this.#parser.write(this.#decoder.end());
    this.#ending = true;
    this.#parser.close();
  }

  /** @throws ReportError that says where the parser is */
  fail(message: string): never {
    throw new ReportError(this.#sawRoot ? message : `${message} ${this.#hint}`, { line: this.#parser.line });
  }

  /** @param message what the parser found wrong */
  #note(message: string): void {
    if (
      this.#sawRoot &&
      !this.#ending &&
      /^(disallowed character|malformed character entity)$/.test(message)
    ) {
      this.#forbidden += 1;
      if (this.#forbidden > MAX_FORBIDDEN)
        this.fail('The report holds too many characters that XML forbids.');
      return;
    }
    this.fail(
      this.#ending ? `The report ends too early (${message}).` : `The report is no XML here (${message}).`,
    );
  }
}
