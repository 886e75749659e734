import { escapeLabel } from '../../parsing/escape-markdown.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';

export interface SarifText {
  plain: string;
  markdown: string;
}

/** Characters that arguments may add to a message. */
const MAX_ARGUMENTS = 1024 * 1024;
/**
 * A bracket that is no link, or a link to a related location or to a URI. Unambiguous, so that it takes linear time.
 */
const BRACKETS =
  /\\([[\]])|\[((?:[^\][\\]|\\[^]){1,500})\]\((\d+|[a-z][a-z\d+.-]+:(?:[^\s()<>]|\([^\s()<>]*\)){1,2000})\)/gi;
/** Stands for a link. A noncharacter, which texts do not use. */
const LINK = '\uFDD0';

/** Fills in the arguments of a message, and resolves escapes and links (sections 3.11.5 and 3.11.6). */
export function sarifText(template: string, values: readonly string[]): SarifText {
  const text = withArguments(template, values);
  if (!/[[\\]/.test(text)) return { plain: text, markdown: textToMarkdown(text) };
  const links: string[] = [];
  const replaced = (isMarkdown: boolean): string =>
    text.replace(BRACKETS, (_all, bracket: string | undefined, escaped = '', target = '') => {
      if (bracket !== undefined) return bracket;
      const label = String(escaped).replace(/\\([[\]\\])/g, '$1');
      const uri = String(target);
      if (!isMarkdown || !/^https?:/i.test(uri)) return label;
      const address = uri.replaceAll('(', '%28').replaceAll(')', '%29');
      links.push(`[${escapeLabel(label.replace(/\s+/g, ' '))}](${address})`);
      return LINK;
    });
  const plain = replaced(false);
  const markdown = textToMarkdown(replaced(true));
  return { plain, markdown: markdown.replaceAll(LINK, () => links.shift() ?? '') };
}

/** Tools that use no arguments often escape no braces either. */
function withArguments(text: string, values: readonly string[]): string {
  if (!text.includes('{')) return text;
  if (values.length === 0) return text.replace(/\{\{(\d{1,3})\}\}/g, '{$1}');
  let size = 0;
  return text.replace(/\{\{|\}\}|\{(\d{1,3})\}/g, (all, index: string | undefined) => {
    if (index === undefined) return all.slice(1);
    const value = values[Number(index)];
    size += value?.length ?? 0;
    return value === undefined || size > MAX_ARGUMENTS ? all : value;
  });
}
