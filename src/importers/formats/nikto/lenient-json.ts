import { StreamingTextDecoder } from '../../parsing/encodings.ts';
import { ReportError } from '../../report.ts';

/** An object with its text and number members, as texts. */
export interface LenientObject {
  members: Map<string, string>;
  /** The enclosing object, as far as it was read. */
  parent: LenientObject | undefined;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

const MAX_DEPTH = 64;
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_MEMBERS = 1_000;

/**
 * Reads the invalid JSON of some Nikto versions: extra or missing commas, extra braces, unescaped quotes and
 * backslashes, numbers with leading zeros, several reports in a row. Reads valid JSON as well.
 * @returns each object at its end, inner ones first
 * @throws ReportError if the report is truncated or a text exceeds 4 Mi characters
 */
export async function* streamLenientObjects(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<LenientObject, void> {
  const decoder = new StreamingTextDecoder();
  const reader = new LenientJsonParser();
  for await (const chunk of chunks) yield* reader.read(decoder.decode(chunk));
  yield* reader.read(decoder.end());
  reader.end();
}

class LenientJsonParser {
  #open: LenientObject | undefined;
  #depth = 0;
  /** Bytes before the next character. */
  #offset = 0;
  #began = false;
  /** Name of the member whose value follows, once its colon was read. */
  #name: string | undefined;
  #isNamed = false;
  #text: string | undefined;
  #escaped: string | undefined;
  /** A quote, with the white space after it, that ends the text if a separator follows. */
  #pendingQuote: string | undefined;
  #word = '';

  *read(text: string): Generator<LenientObject> {
    for (const character of text) {
      const ended = this.#text === undefined ? this.#takeToken(character) : this.#takeText(character);
      if (ended !== undefined) yield ended;
      this.#offset += Buffer.byteLength(character);
    }
  }

  end(): void {
    if (!this.#began) throw new ReportError('The report is empty.');
    if (this.#open !== undefined || this.#text !== undefined) this.#fail('The report is truncated.');
  }

  #fail(message: string): never {
    throw new ReportError(message, { offset: this.#offset });
  }

  #takeToken(character: string): LenientObject | undefined {
    if (/[^\s,:{}[\]"]/.test(character)) {
      this.#word += character;
      if (this.#word.length > MAX_TEXT)
        this.#fail('The report contains a word of more than 4 Mi characters.');
      return undefined;
    }
    if (this.#word !== '') {
      this.#add(this.#word);
      this.#word = '';
    }
    if (character === '"') this.#text = '';
    else if (character === ':') this.#isNamed = true;
    else if (character === ',' || character === '[') this.#clearName();
    else if (character === '{') this.#begin();
    else if (character === '}') return this.#finish();
    return undefined;
  }

  #begin(): void {
    this.#began = true;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#fail(`Objects are nested more than ${MAX_DEPTH} levels deep.`);
    this.#open = { members: new Map(), parent: this.#open, offset: this.#offset };
    this.#clearName();
  }

  #finish(): LenientObject | undefined {
    const ended = this.#open;
    if (ended === undefined) return undefined;
    this.#open = ended.parent;
    this.#depth -= 1;
    this.#clearName();
    return ended;
  }

  #clearName(): void {
    this.#name = undefined;
    this.#isNamed = false;
  }

  #add(value: string): void {
    if (!this.#isNamed) this.#name = value;
    else if (this.#name !== undefined) {
      const members = this.#open?.members;
      if (members !== undefined && members.size < MAX_MEMBERS) members.set(this.#name, value.toWellFormed());
      this.#clearName();
    }
  }

  #takeText(character: string): LenientObject | undefined {
    if (this.#pendingQuote !== undefined) {
      if (/\s/.test(character)) {
        this.#pendingQuote += character;
        return undefined;
      }
      if (/[,:{}[\]]/.test(character)) {
        this.#add(this.#text ?? '');
        this.#text = undefined;
        this.#pendingQuote = undefined;
        return this.#takeToken(character);
      }
      this.#append(this.#pendingQuote);
      this.#pendingQuote = undefined;
    }
    if (this.#escaped !== undefined) this.#takeEscape(character);
    else if (character === '\\') this.#escaped = '';
    else if (character === '"') this.#pendingQuote = '"';
    else this.#append(character);
    return undefined;
  }

  /** A backslash before an unknown escape is literal. */
  #takeEscape(character: string): void {
    const escape = `${this.#escaped}${character}`;
    if (/^u[\da-f]{0,3}$/i.test(escape)) {
      this.#escaped = escape;
      return;
    }
    this.#escaped = undefined;
    const unescaped = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '"': '"', '\\': '\\', '/': '/' }[escape];
    if (unescaped !== undefined) this.#append(unescaped);
    else if (/^u[\da-f]{4}$/i.test(escape))
      this.#append(String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    else this.#append(`\\${escape}`);
  }

  #append(text: string): void {
    this.#text += text;
    if ((this.#text?.length ?? 0) > MAX_TEXT)
      this.#fail('The report contains a text of more than 4 Mi characters.');
  }
}
