import { htmlToMarkdown, textToMarkdown } from './markdown.ts';
import type { XmlElement } from './xml-stream.ts';

/** @returns the elements at the end of a path of names below the element, in their order */
export function elementsAt(element: XmlElement, ...names: readonly string[]): readonly XmlElement[] {
  let found: readonly XmlElement[] = [element];
  for (const name of names) {
    found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  }
  return found;
}

/** @returns the trimmed text of the first element at the path that has one */
export function textAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  return textsAt(element, ...names)[0];
}

/** @returns the trimmed texts of the elements at the path, without those that are empty */
export function textsAt(element: XmlElement, ...names: readonly string[]): string[] {
  return elementsAt(element, ...names)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
}

/** @returns the HTML that is the text of the first element at the path that has one, as Markdown */
export function markdownAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : htmlToMarkdown(text);
}

/** @returns the plain text of the first element at the path that has one, as Markdown that shows it as it is */
export function plainTextAt(element: XmlElement, ...names: readonly string[]): string | undefined {
  const text = textAt(element, ...names);
  return text === undefined ? undefined : textToMarkdown(text);
}

/** @returns the element's text without that of the elements in it, trimmed: `1.2.3.4<hostname>a</hostname>` has `1.2.3.4` */
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
