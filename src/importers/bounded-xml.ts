import { SaxesParser } from 'saxes';
import { NotUtf8, Utf8Chunks } from './utf8.ts';

/** Why a report cannot be used any further; the message says where. */
export class ReportError extends Error {
  override name = 'ReportError';
}

export interface ElementHandler {
  /** @param depth 1 for the root */
  open(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  close(name: string, depth: number): void;
  /** The text of the element that `captureText` was called for. */
  text(text: string): void;
}

const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 128;
/** The longest tag, comment, text or declaration, in characters: what the parser may have to hold at once. */
const MAX_PIECE = 4 * 1024 * 1024;

/**
 * A streaming XML parser for files that nobody vouches for: it resolves no entity but XML's own five, reads no
 * document type, and holds a bounded part of the file, whatever stands in it.
 */
export class BoundedXml {
  readonly #parser = new SaxesParser();
  readonly #decoder = new Utf8Chunks();
  readonly #handler: ElementHandler;
  #depth = 0;
  /** Of the tag that is being read. */
  #attributes = 0;
  #bytes = 0;
  #sawRoot = false;
  /** Where the last tag ended, in characters. */
  #tagEnd = 0;

  /** @param documentType what `<!DOCTYPE` may say; an identifier of an outside definition may follow it */
  constructor(handler: ElementHandler, documentType: string) {
    this.#handler = handler;
    const parser = this.#parser;
    // Nothing in it can match the same characters in two ways, so that it takes a time in proportion to what it reads.
    const allowed = new RegExp(`^${documentType}(\\s+(PUBLIC|SYSTEM)\\s[^\\[]*)?$`);
    parser.on('xmldecl', ({ version, encoding = 'UTF-8' }) => {
      if (version !== '1.0') this.refuse(`the report is XML ${version}, and only XML 1.0 is read.`);
      if (!/^(utf-?8|us-ascii)$/i.test(encoding))
        this.refuse(`the report is declared as ${encoding}, and only UTF-8 is read.`);
    });
    parser.on('doctype', (doctype) => {
      if (!allowed.test(doctype.trim()))
        this.refuse(`the document type is not that of ${documentType}, or defines things of its own.`);
    });
    parser.on('error', ({ message }) => this.refuse(message.replace(/^\d+:\d+: /, '')));
    parser.on('attribute', () => {
      this.#attributes += 1;
      if (this.#attributes > MAX_ATTRIBUTES)
        this.refuse(`an element has more than ${MAX_ATTRIBUTES} attributes.`);
    });
    parser.on('opentag', ({ name, attributes }) => {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) this.refuse(`elements are nested more than ${MAX_DEPTH} deep.`);
      this.#tagEnd = parser.position;
      this.#attributes = 0;
      this.#sawRoot = true;
      handler.open(name, attributes, this.#depth);
    });
    parser.on('closetag', ({ name }) => {
      this.#tagEnd = parser.position;
      parser.off('text');
      handler.close(name, this.#depth);
      this.#depth -= 1;
    });
  }

  /** Where the parser is, in characters from the start. */
  get position(): number {
    return this.#parser.position;
  }

  /** Asks for the text of the element that was opened just now. */
  captureText(): void {
    this.#parser.on('text', (text) => this.#handler.text(text));
  }

  /** @throws ReportError, also for whatever the handler refuses */
  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    try {
      this.#parser.write(this.#decoder.decode(chunk));
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error;
      this.#refuseEncoding(error);
    }
    if (this.#parser.position - this.#tagEnd > MAX_PIECE) {
      this.refuse(`no tag ends within ${MAX_PIECE / 1024 / 1024} MiB.`);
    }
  }

  /** @throws ReportError when the document is not complete */
  end(): void {
    if (this.#bytes === 0) throw new ReportError('The report is empty.');
    try {
      this.#decoder.end();
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error;
      this.#refuseEncoding(error);
    }
    this.#parser.on('error', ({ message }) =>
      this.refuse(`the report ends too early (${message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')}).`),
    );
    this.#parser.close();
  }

  /** @throws ReportError that says where the parser is */
  refuse(message: string): never {
    const hint = this.#sawRoot ? '' : ' This is not the XML that "nmap -oX" writes.';
    const { line, column } = this.#parser;
    throw new ReportError(`line ${line}, column ${column + 1}: ${message}${hint}`);
  }

  #refuseEncoding({ offset, before }: NotUtf8): never {
    if (offset < 4) throw new ReportError('The report is not text. Unpack it first if it is compressed.');
    this.#parser.write(before);
    this.refuse(`byte ${offset} of the report is not UTF-8.`);
  }
}
