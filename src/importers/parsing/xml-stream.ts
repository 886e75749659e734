import { type ElementHandler, LimitedXmlParser } from './limited-xml-parser.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { trimLines } from './trim-lines.ts';
import { textToMarkdown } from './text-to-markdown.ts';

type Attributes = Readonly<Record<string, string>>;

/** A complete element; names have no namespace prefix. */
export interface XmlElement {
  name: string;
  attributes: Attributes;
  children: readonly XmlElement[];
  /** Text of the element and its descendants, including CDATA. */
  text: string;
}

/** An open element. */
export interface XmlAncestor {
  name: string;
  attributes: Attributes;
}

export interface XmlMatch {
  path: string;
  element: XmlElement;
  /** From the root. All matches inside an element share its object. */
  ancestors: readonly XmlAncestor[];
  /** Line of the end tag, or of the start tag for `begins`; from 1. */
  line: number;
}

export interface XmlStreamOptions {
  /** Allowed root elements, without prefix. */
  roots: readonly string[];
  /** Names from the root, joined by dots; `*` for any: `issues.issue`. */
  paths: readonly string[];
  /** Paths of elements to yield, without content, where they begin. */
  begins?: readonly string[];
  /** Paths of elements to yield, without content, where they end. */
  ends?: readonly string[];
  /**
   * Name of an element that a tool opens again without closing the last one: it ends where the next one begins. Several
   * documents may follow each other, too.
   */
  reopens?: string;
}

const MAX_DEPTH = 64;
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_ELEMENTS = 100_000;

/**
 * Streams the elements at the given paths of an XML document and skips everything else. Elements inside a match are not
 * matched again.
 * @throws ReportError with the line if the document is invalid or truncated, or a match exceeds 8 Mi characters; yields
 *   the matches before it first
 */
export async function* streamXmlMatches(
  chunks: AsyncIterable<Uint8Array>,
  options: XmlStreamOptions,
): AsyncGenerator<XmlMatch, void> {
  const collector = new Collector(options);
  const xml = new LimitedXmlParser(collector, {
    roots: options.roots,
    hint: 'The file is not a report of this format.',
    isFragment: options.reopens !== undefined,
  });
  collector.xml = xml;
  const takeAfter = function* (read: () => void): Generator<XmlMatch> {
    try {
      read();
    } catch (error) {
      // The element is incomplete if its end tag is the error.
      yield* collector.takeMatches(xml.position);
      throw error;
    }
    yield* collector.takeMatches();
  };
  for await (const chunk of chunks) yield* takeAfter(() => xml.write(chunk));
  yield* takeAfter(() => xml.end());
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
  readonly #reopens: string | undefined;
  readonly #ancestors: XmlAncestor[] = [];
  /** Whether an element ended without an end tag. */
  #hasReopened = false;
  #matches: XmlMatch[] = [];
  #lastEnd = -1;
  #path = '';
  #current: OpenElement | undefined;
  #characters = 0;
  #elements = 0;

  constructor({ roots, paths, begins = [], ends = [], reopens }: XmlStreamOptions) {
    const compile = (list: readonly string[]) => list.map((path) => ({ path, names: path.split('.') }));
    this.#roots = roots;
    this.#paths = compile(paths);
    this.#begins = compile(begins);
    this.#ends = compile(ends);
    this.#reopens = reopens;
  }

  takeMatches(failedAt?: number): XmlMatch[] {
    const matches = this.#matches;
    this.#matches = [];
    if (this.#lastEnd === failedAt) matches.pop();
    return matches;
  }

  open(prefixed: string, attributes: Attributes): void {
    const name = prefixed.slice(prefixed.indexOf(':') + 1);
    if (name === this.#reopens && this.#ancestors.length > 1 && this.#ancestors.at(-1)?.name === name) {
      this.#ancestors.pop();
      this.#hasReopened = true;
    }
    const depth = this.#ancestors.length + 1;
    if (depth > MAX_DEPTH) this.xml.fail(`Elements are nested more than ${MAX_DEPTH} levels deep.`);
    if (depth === 1 && this.#current === undefined && !this.#roots.includes(name)) {
      const roots = this.#roots.map((root) => `<${root}>`).join(' or ');
      this.xml.fail(`The report begins with <${name.slice(0, 50)}> instead of ${roots}.`);
    }
    const path = this.#current === undefined ? this.#pathAt(this.#paths, name, depth) : undefined;
    if (path !== undefined) {
      this.#path = path;
      this.#characters = 0;
      this.#elements = 0;
      this.xml.captureText();
    }
    if (path === undefined && this.#current === undefined) {
      this.#addEmptyMatch(this.#begins, { name, attributes }, depth);
      this.#ancestors.push({ name, attributes });
      return;
    }
    this.#current = { name, attributes, children: [], text: '', parent: this.#current };
    this.#elements += 1;
    for (const key in attributes) this.#count(key.length + (attributes[key]?.length ?? 0));
    this.#count(name.length);
    if (this.#elements > MAX_ELEMENTS) this.xml.fail(`An element contains more than ${MAX_ELEMENTS} others.`);
  }

  close(): void {
    const current = this.#current;
    if (current === undefined) {
      const ancestor = this.#ancestors.pop();
      if (ancestor !== undefined && this.#addEmptyMatch(this.#ends, ancestor, this.#ancestors.length + 1))
        this.#lastEnd = this.xml.position;
      return;
    }
    const { parent, ...element } = current;
    this.#current = parent;
    if (parent === undefined) {
      const ancestors = [...this.#ancestors];
      this.#matches.push({ path: this.#path, element, ancestors, line: this.xml.line });
      this.#lastEnd = this.xml.position;
      return;
    }
    parent.children.push(element);
    parent.text += element.text;
  }

  mayStayOpen(): boolean {
    return (
      this.#hasReopened &&
      this.#current === undefined &&
      this.#ancestors.every(({ name }) => name === this.#reopens)
    );
  }

  text(text: string): void {
    if (this.#current === undefined) return;
    this.#count(text.length);
    this.#current.text += text;
  }

  #addEmptyMatch(paths: readonly CompiledPath[], { name, attributes }: XmlAncestor, depth: number): boolean {
    const path = this.#pathAt(paths, name, depth);
    if (path === undefined) return false;
    const element = { name, attributes, children: [], text: '' };
    this.#matches.push({ path, element, ancestors: [...this.#ancestors], line: this.xml.line });
    return true;
  }

  #pathAt(paths: readonly CompiledPath[], name: string, depth: number): string | undefined {
    return paths.find(
      ({ names }) =>
        names.length === depth &&
        names.every((expected, index) => {
          const actual = index === depth - 1 ? name : this.#ancestors[index]?.name;
          return expected === '*' || expected === actual;
        }),
    )?.path;
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS) this.xml.fail('An element contains more than 8 Mi characters.');
  }
}

/** @returns the descendants at a path of names, in document order */
export function elementsAt(element: XmlElement, ...names: readonly string[]): readonly XmlElement[] {
  let elements: readonly XmlElement[] = [element];
  for (const name of names) {
    elements = elements.flatMap(({ children }) => children.filter((child) => child.name === name));
  }
  return elements;
}

/** @returns the first non-empty text at the path, trimmed */
export function textAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  return textsAt(element, ...names)[0];
}

/** @returns the non-empty texts at the path, trimmed */
export function textsAt(element: XmlElement, ...names: readonly string[]): string[] {
  return elementsAt(element, ...names)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
}

/** @returns the non-empty texts at the path, with the indentation of their first lines, for output in columns */
export function outputsAt(element: XmlElement, ...names: readonly string[]): string[] {
  return elementsAt(element, ...names)
    .map(({ text }) => trimLines(text))
    .filter((text) => text !== '');
}

/** @returns the first non-empty HTML at the path, as Markdown */
export function markdownAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : htmlToMarkdown(text);
}

/** @returns the first non-empty text at the path, as Markdown */
export function markdownTextAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : textToMarkdown(text);
}

/** Characters, including those of the children; searching for long texts takes quadratic time. */
const MAX_OWN_TEXT = 16_384;

/**
 * @returns the element's text without that of its children, `1.2.3.4` for `1.2.3.4<hostname>a</hostname>`; empty if the
 *   two together have more than 16 Ki characters
 */
export function ownText({ text, children }: XmlElement): string {
  if (text.length > MAX_OWN_TEXT) return '';
  let outerText = '';
  let end = text.length;
  for (const child of children.toReversed()) {
    const start = text.lastIndexOf(child.text, end - child.text.length);
    if (start < 0) break;
    outerText = text.slice(start + child.text.length, end) + outerText;
    end = start;
  }
  return (text.slice(0, end) + outerText).trim();
}
