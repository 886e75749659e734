/** Removes empty lines around a text and white space at its end, and keeps the indentation of its first line. */
export function trimLines(text: string): string {
  const start = text.search(/\S/);
  return start === -1 ? '' : text.slice(text.lastIndexOf('\n', start) + 1).trimEnd();
}
