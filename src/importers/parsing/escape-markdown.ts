import { decodeEntities } from './html-entities.ts';

/** A URL, code between backticks (not `quoted'), or a character that Markdown may give a meaning. */
const SPECIAL = /(?:https?:\/\/|www\.)[^\s<>\p{Cc}]+|(?<!`)`(?![^\s`']*')[^`]+`(?!`)|[\\`*_[\]<&~]/giu;
const WORD = /[\p{L}\p{N}]/u;
/** The texts that give a meaning to the character before them. */
const MEANINGFUL_BEFORE: Readonly<Record<string, RegExp>> = {
  '\\': /^(?:[!-/:-@[-`{-~]|https?:\/\/|www\.|$)/i,
  '<': /^(?:[a-z/!?]|\S*@)/i,
  '&': /^#?[a-z\d]{1,31};/i,
  '[': /^(?:\^|[ x]\])/i,
  // A link, a reference or a definition; other brackets are text.
  ']': /^[([:]/,
};
const LOOKAHEAD = 34;

/** Escapes a line of plain text for Markdown. URLs become links, and text between backticks stays code. */
export function escapeInline(text: string): string {
  return text.replace(SPECIAL, (match, at: number) => {
    if (match.length === 1) return escapeCharacter(match, at, text);
    return match.startsWith('`') ? match : markdownUrl(match, text.charAt(at - 1), text[at + match.length]);
  });
}

/** Escapes the text of a link, which contains no other link. */
export function escapeLabel(text: string): string {
  return text
    .replace(/[\\`*_[\]<&~]/g, (character, at: number) =>
      character === '[' || character === ']' ? `\\${character}` : escapeCharacter(character, at, text),
    )
    .replace(/(https?)(?=:\/\/)|(www)(?=\.)/gi, '$&\\');
}

/** Escapes characters that have a meaning at the start of a line (CommonMark 0.31, sections 4 and 5). */
export function escapeLineStart(line: string): string {
  // A line of these only underlines a heading or a row of a table.
  if (/^[-=|:+\s]+$/.test(line)) return `\\${line}`;
  return line.replace(/^(?:(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$))|(\d{1,9})(?=[.)](?:\s|$)))/, '$1\\');
}

/** Wraps any text in a Markdown code block (CommonMark 0.31, section 4.5). */
export function codeBlock(text: string): string {
  const fence = '`'.repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}\n${text.replace(/\r\n?/g, '\n').replace(/\n$/, '')}\n${fence}`;
}

/** Wraps any text in a Markdown code span (CommonMark 0.31, section 6.1). */
export function codeSpan(text: string): string {
  if (!text.includes('`')) return `\`${text}\``;
  const fence = '`'.repeat(longestRun(text) + 1);
  return `${fence} ${text} ${fence}`;
}

/** Turns the Markdown of a report into plain text, for evidence, which is not Markdown. Code stays as it is. */
export function markdownToPlainText(markdown: string): string {
  return markdown.replace(
    /\\([!-/:-@[-`{-~])|(?<!`)(`+)(?!`)[^`]*\2(?!`)|<(https?:\/\/[^\s<>]+)>| {2}(?=\n)|&(?:lt|amp);/g,
    (match, escaped: string | undefined, fence: string | undefined, url: string | undefined) =>
      fence === undefined ? (escaped ?? url ?? decodeEntities(match).trimEnd()) : match,
  );
}

/**
 * Breaks the addresses of attachments in Markdown, which are ours and not those of a report: also of those that the
 * console gives to images until they are uploaded (`attachment:new-1`).
 */
export function unlinkAttachments(markdown: string): string {
  // Most texts have neither an address of an attachment nor a reference that could hide one.
  if (!/attachment|&/i.test(markdown)) return markdown;
  const text = markdown.replace(/(attachment\\?:)(?=\d|new)/gi, '$1 ');
  // An address may contain character references.
  return /attachment\\?:(?:\d|new)/i.test(decodeEntities(text)) ? text.replaceAll('&', '&amp;') : text;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

function escapeCharacter(character: string, at: number, text: string): string {
  const [before, after] = [text.charAt(at - 1), text.charAt(at + 1)];
  switch (character) {
    case '_':
      return WORD.test(before) && WORD.test(after) ? '_' : '\\_';
    case '~':
      return /^\s?$/.test(before) && after !== '~' ? '~' : '\\~';
    case '*':
      return /\s/.test(before) && /\s/.test(after) ? '*' : '\\*';
    case '`':
      return '\\`';
    default:
      if (MEANINGFUL_BEFORE[character]?.test(text.slice(at + 1, at + 1 + LOOKAHEAD)) !== true)
        return character;
      return { '<': '&lt;', '&': '&amp;' }[character] ?? `\\${character}`;
  }
}

/** A URL that GitHub's Markdown links as it is. */
const PLAIN_URL = /^(?:https?:\/\/|www\.)[\p{L}\p{N}.-]+(?::\d{1,5})?(?:[/?#][^\\`*[\]|~]*)?$/iu;

/** Links a URL, without the punctuation after it. Escapes would become a part of a link without angle brackets. */
function markdownUrl(match: string, before: string, after = ' '): string {
  // Searched once: for each of many brackets at the end, it would take quadratic time.
  const open = match.indexOf('(');
  let end = match.length;
  while (/[.,;:!?)\]}'"*_~`]/.test(match.charAt(end - 1))) {
    if (match.charAt(end - 1) === ')' && open !== -1 && open < end) break;
    end -= 1;
  }
  const [url, rest] = [match.slice(0, end), match.slice(end)];
  const isPlain = PLAIN_URL.test(url) && !/&#?[a-z\d]{1,31};/i.test(match) && !WORD.test(before);
  if (isPlain && /^[.,;:!?)'"]*$/.test(rest) && /\s/.test(after)) return match;
  return /^http/i.test(url) ? `<${url}${escapeInline(`>${rest}`)}` : escapeLabel(match);
}
