/** Kinds of tokens, each with a colour. */
type TokenKind = 'key' | 'string' | 'number' | 'header' | 'dim';

/** A part of a line; plain text has no kind. */
export interface Token {
  text: string;
  kind?: TokenKind;
}

type Section = 'start' | 'headers' | 'body' | 'json' | 'form' | 'plain';

/** Longer lines are plain text. */
const MAX_LINE_LENGTH = 4_000;

const REQUEST_LINE = /^([A-Z]{3,20})( .*)( HTTP\/[\d.]{1,3})$/;
const STATUS_LINE = /^(HTTP\/[\d.]{1,3})( .*)?$/;
const HEADER = /^([\w!#$%&'*+.^`|~-]+:)(.*)$/;
const JSON_TOKEN = /("(?:[^"\\]|\\.)*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;

/** The colon after the name of a JSON member. */
const COLON = /\s*:/y;

/** @returns the lines of a text without the blank ones at its end */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1);
}

/**
 * Finds the tokens of HTTP messages: start lines, headers, and bodies in JSON or of forms.
 * @param lines the first lines of a text
 * @returns for each line its tokens, whose texts are together the line
 */
export function tokenizeLines(lines: readonly string[]): Token[][] {
  let section: Section = 'start';
  let contentType = '';
  return lines.map((line, index) => {
    const isLong = line.length > MAX_LINE_LENGTH;
    // The response follows the request.
    if (!isLong && lines[index - 1] === '' && STATUS_LINE.test(line)) section = 'start';
    switch (section) {
      case 'start': {
        const tokens = isLong ? undefined : startLineTokens(line);
        section = tokens === undefined ? bodyFormat(line, '') : 'headers';
        contentType = '';
        if (tokens !== undefined) return tokens;
        break;
      }
      case 'headers': {
        if (line === '') section = 'body';
        const [, name, value] = (isLong ? null : HEADER.exec(line)) ?? [];
        if (name === undefined || value === undefined) return plain(line);
        if (name.toLowerCase() === 'content-type:') contentType = value.toLowerCase();
        return [{ text: name, kind: 'header' }, { text: value }];
      }
      case 'body':
        section = bodyFormat(line, contentType);
        break;
      default:
    }
    if (isLong) return plain(line);
    if (section === 'json') return jsonTokens(line);
    return section === 'form' ? formTokens(line) : plain(line);
  });
}

const plain = (line: string): Token[] => [{ text: line }];

function startLineTokens(line: string): Token[] | undefined {
  const [, method, target, version] = REQUEST_LINE.exec(line) ?? [];
  if (method !== undefined && target !== undefined && version !== undefined)
    return [{ text: method, kind: 'key' }, { text: target }, { text: version, kind: 'dim' }];
  const [, protocol, status = ''] = STATUS_LINE.exec(line) ?? [];
  if (protocol === undefined) return undefined;
  return [
    { text: protocol, kind: 'dim' },
    { text: status, kind: 'string' },
  ];
}

/** @returns the format of a body by its type, or by its first line if the type is missing */
function bodyFormat(line: string, contentType: string): Section {
  if (contentType.includes('json')) return 'json';
  if (contentType.includes('x-www-form-urlencoded')) return 'form';
  return contentType === '' && /^\s*[[{]/.test(line.slice(0, MAX_LINE_LENGTH)) ? 'json' : 'plain';
}

function jsonTokens(line: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: match, 1: string, index } of line.matchAll(JSON_TOKEN)) {
    tokens.push({ text: line.slice(end, index) });
    end = index + match.length;
    COLON.lastIndex = end;
    tokens.push({ text: match, kind: string === undefined ? 'number' : COLON.test(line) ? 'key' : 'string' });
  }
  tokens.push({ text: line.slice(end) });
  return tokens.filter(({ text }) => text !== '');
}

function formTokens(line: string): Token[] {
  return line
    .split('&')
    .flatMap((field, index): Token[] => {
      const [name = ''] = field.split('=', 1);
      return [
        { text: index === 0 ? '' : '&', kind: 'dim' },
        { text: name, kind: 'key' },
        { text: field.slice(name.length, name.length + 1), kind: 'dim' },
        { text: field.slice(name.length + 1), kind: 'string' },
      ];
    })
    .filter(({ text }) => text !== '');
}
