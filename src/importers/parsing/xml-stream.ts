import { LimitedXmlParser, type ElementHandler } from './limited-xml-parser.ts';

type Attributes = Readonly<Record<string, string>>;

/** A whole element. Names are without their prefix. */
export interface XmlElement {
  name: string;
  attributes: Attributes;
  children: readonly XmlElement[];
  /** All text within it, in the order of the report, with what stands in CDATA. */
  text: string;
}

/** An element that has begun and not ended. */
export interface XmlAncestor {
  name: string;
  attributes: Attributes;
}

/** An element at one of the paths that were asked for. */
export interface XmlMatch {
  /** The path as it was asked for. */
  path: string;
  element: XmlElement;
  /** From the root on. The same one is the same object in every piece that lies in it. */
  ancestors: readonly XmlAncestor[];
  /** Where it ends, or begins where that is what was asked for; from 1. */
  line: number;
}

export interface XmlStreamOptions {
  /** Names of root elements, without prefix; another one is refused. */
  roots: readonly string[];
  /** Names from the root on, joined by dots, `*` for any: `issues.issue`. */
  paths: readonly string[];
  /** Of elements that are told where they begin, with nothing in them; what they hold may be told behind them. */
  begins?: readonly string[];
  /** Of elements that are told where they end, with nothing in them; what they hold may be told before them. */
  ends?: readonly string[];
}

const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_ELEMENTS = 100_000;

/**
 * Reads XML as it comes in, and gives whole the elements at the paths. What lies within one is no piece of its own, and
 * everything else is passed over.
 * @throws ReportError with the line where it is no XML, ends too early, or holds a piece of more than 8 Mi characters;
 *   every piece that ended before was yielded
 */
export async function* streamXmlMatches(
  chunks: AsyncIterable<Uint8Array>,
  options: XmlStreamOptions,
): AsyncGenerator<XmlMatch, void> {
  const collector = new Collector(options);
  const xml = new LimitedXmlParser(collector, options.roots, 'This is not the XML of such a report.');
  collector.xml = xml;
  const step = function* (read: () => void): Generator<XmlMatch> {
    try {
      read();
    } catch (error) {
      // An element whose closing tag is the error did not end.
      yield* collector.takeMatches(xml.position);
      throw error;
    }
    yield* collector.takeMatches();
  };
  for await (const chunk of chunks) yield* step(() => xml.write(chunk));
  yield* step(() => xml.end());
}

interface OpenElement {
  name: string;
  attributes: Attributes;
  children: XmlElement[];
  text: string;
  parent: OpenElement | undefined;
}

interface CompiledPath {
  path: string;
  names: readonly string[];
}

class Collector implements ElementHandler {
  xml!: LimitedXmlParser;
  readonly #roots: readonly string[];
  readonly #paths: readonly CompiledPath[];
  readonly #begins: readonly CompiledPath[];
  readonly #ends: readonly CompiledPath[];
  readonly #ancestors: XmlAncestor[] = [];
  #pieces: XmlMatch[] = [];
  #lastEnd = -1;
  #path = '';
  #draft: OpenElement | undefined;
  #characters = 0;
  #elements = 0;

  constructor({ roots, paths, begins = [], ends = [] }: XmlStreamOptions) {
    const known = (list: readonly string[]) => list.map((path) => ({ path, names: path.split('.') }));
    this.#roots = roots;
    this.#paths = known(paths);
    this.#begins = known(begins);
    this.#ends = known(ends);
  }

  takeMatches(failedAt?: number): XmlMatch[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    if (this.#lastEnd === failedAt) pieces.pop();
    return pieces;
  }

  open(prefixed: string, attributes: Attributes, depth: number): void {
    const name = prefixed.slice(prefixed.indexOf(':') + 1);
    if (depth === 1 && !this.#roots.includes(name)) {
      const roots = this.#roots.map((root) => `<${root}>`).join(' or ');
      this.xml.fail(`The report begins with <${name.slice(0, 50)}> and not with ${roots}.`);
    }
    const path = this.#draft === undefined ? this.#pathAt(this.#paths, name, depth) : undefined;
    if (path !== undefined) {
      this.#path = path;
      this.#characters = 0;
      this.#elements = 0;
      this.xml.captureText();
    }
    if (path === undefined && this.#draft === undefined) {
      this.#note(this.#begins, { name, attributes }, depth);
      this.#ancestors.push({ name, attributes });
      return;
    }
    this.#draft = { name, attributes, children: [], text: '', parent: this.#draft };
    this.#elements += 1;
    for (const key in attributes) this.#count(key.length + (attributes[key]?.length ?? 0));
    this.#count(name.length);
    if (this.#elements > MAX_ELEMENTS) this.xml.fail(`An element holds more than ${MAX_ELEMENTS} others.`);
  }

  close(_name: string, depth: number): void {
    const draft = this.#draft;
    if (draft === undefined) {
      const ended = this.#ancestors.pop();
      if (ended !== undefined && this.#note(this.#ends, ended, depth)) this.#lastEnd = this.xml.position;
      return;
    }
    const { parent, ...element } = draft;
    this.#draft = parent;
    if (parent === undefined) {
      const ancestors = this.#ancestors.slice(0, depth - 1);
      this.#pieces.push({ path: this.#path, element, ancestors, line: this.xml.line });
      this.#lastEnd = this.xml.position;
      return;
    }
    parent.children.push(element);
    parent.text += element.text;
  }

  text(text: string): void {
    if (this.#draft === undefined) return;
    this.#count(text.length);
    this.#draft.text += text;
  }

  #note(paths: readonly CompiledPath[], { name, attributes }: XmlAncestor, depth: number): boolean {
    const path = this.#pathAt(paths, name, depth);
    if (path === undefined) return false;
    const element = { name, attributes, children: [], text: '' };
    this.#pieces.push({ path, element, ancestors: [...this.#ancestors], line: this.xml.line });
    return true;
  }

  #pathAt(paths: readonly CompiledPath[], name: string, depth: number): string | undefined {
    return paths.find(
      ({ names }) =>
        names.length === depth &&
        names.every((wanted, index) => {
          const found = index === depth - 1 ? name : this.#ancestors[index]?.name;
          return wanted === '*' || wanted === found;
        }),
    )?.path;
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS) this.xml.fail('An element holds more than 8 Mi characters.');
  }
}
