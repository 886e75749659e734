import { htmlToMarkdown, textToMarkdown } from './markdown.ts';
import type { XmlElement } from './xml-stream.ts';

/** @returns the descendants at a path of names, in document order */
export function elementsAt(element: XmlElement, ...names: readonly string[]): readonly XmlElement[] {
  let found: readonly XmlElement[] = [element];
  for (const name of names) {
    found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  }
  return found;
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

/** @returns the first non-empty HTML at the path, as Markdown */
export function markdownAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : htmlToMarkdown(text);
}

/** @returns the first non-empty text at the path, as Markdown */
export function plainTextAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : textToMarkdown(text);
}

/** @returns the element's text without that of its children: `1.2.3.4` for `1.2.3.4<hostname>a</hostname>` */
export function ownText({ text, children }: XmlElement): string {
  let own = '';
  let end = text.length;
  for (const child of children.toReversed()) {
    const start = text.lastIndexOf(child.text, end - child.text.length);
    if (start < 0) break;
    own = text.slice(start + child.text.length, end) + own;
    end = start;
  }
  return (text.slice(0, end) + own).trim();
}
