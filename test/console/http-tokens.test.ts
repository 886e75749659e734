import { describe, expect, it } from 'vitest';
import { splitLines, tokenizeLines } from '../../console/src/components/http-tokens.ts';
import { isLinear } from '../harness/growth.ts';

/** The tokens of a text that have a kind, as "kind text". */
const tokensOf = (text: string): string[] =>
  tokenizeLines(splitLines(text))
    .flat()
    .flatMap((token) => (token.kind === undefined ? [] : [`${token.kind} ${token.text}`]));

describe('Console: tokens of HTTP messages', () => {
  it('are the parts of the request line and the names of headers', () => {
    expect(tokensOf('GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n')).toEqual([
      'key GET',
      'dim  HTTP/1.1',
      'header Host:',
      'header Accept:',
    ]);
  });

  it('are the parts of the status line, and those of JSON', () => {
    const response =
      'HTTP/2 200 OK\ncontent-type: application/problem+json\n\n{"a\\"b" : [-1.5e3, true, "c"]';
    expect(tokensOf(response)).toEqual([
      'dim HTTP/2',
      'string  200 OK',
      'header content-type:',
      String.raw`key "a\"b"`,
      'number -1.5e3',
      'number true',
      'string "c"',
    ]);
  });

  it('are the fields of a form', () => {
    const request = 'POST / HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\na=1=2&b';
    expect(tokensOf(request).slice(3)).toEqual(['key a', 'dim =', 'string 1=2', 'dim &', 'key b']);
  });

  it('are found in the response after a request, and in JSON without headers', () => {
    expect(tokensOf('GET / HTTP/1.1\n\nHTTP/1.1 204\n\n{"a":1}')).toEqual([
      'key GET',
      'dim  HTTP/1.1',
      'dim HTTP/1.1',
      'string  204',
      'key "a"',
      'number 1',
    ]);
    expect(tokensOf('[\n  null\n]')).toEqual(['number null']);
  });

  it('are absent from other texts and from long lines', () => {
    expect(tokensOf('Seen at 12: "yes"')).toEqual([]);
    expect(tokensOf('HTTP/1.1 200\nContent-Type: text/html\n\n<a href="b">1</a>').slice(3)).toEqual([]);
    expect(tokensOf(`{\n"a": "${'b'.repeat(4_000)}"\n}`)).toEqual([]);
  });

  it('are together the text', () => {
    const text = 'POST / HTTP/1.1\nA: b\n: c\n\n{"a": "\\';
    const lines = splitLines(text);
    expect(tokenizeLines(lines).map((tokens) => tokens.map((token) => token.text).join(''))).toEqual(lines);
  });

  it.each(['{"', '\\"', '{"a" ', 'a=&', '1', '\n', 'A: \n'])('are found in linear time in %j', (unit) => {
    expect(isLinear(tokensOf, (length) => `{${unit.repeat(Math.ceil(length / unit.length))}`)).toBe(true);
  });
});
