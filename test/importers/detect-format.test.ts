import { SaxesParser } from 'saxes';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { matchingFormats, readSample } from '../../src/importers/formats/index.ts';
import { FIRST, inChunks } from './reports.ts';

const sample = (text: string | Uint8Array, size?: number) => readSample(() => inChunks(text, size));

describe('readSample: the beginning of a report', () => {
  it('finds the root element of XML', async () => {
    const text =
      '\uFEFF<?xml version="1.0"?>\n<!-- <no/> -->\n<!DOCTYPE a [<!ELEMENT b ANY>]>\n<x:a xmlns:x="u" b="1"><c';
    for (const size of [1, 65_536]) {
      expect(await sample(text, size)).toEqual({
        text: text.slice(1),
        records: [],
        root: { name: 'a', attributes: { 'xmlns:x': 'u', b: '1' } },
      });
    }
    expect((await sample('<a')).root).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['{"a":[1,"}"]}', { a: [1, '}'] }],
    ['{"a":1}\n{"b":2}', { a: 1 }],
    ['{"a":1}\n\n', { a: 1 }],
    ['{"a":1,"b":[{"c":2,"d":"cut', { a: 1, b: [{ c: 2 }] }],
    ['[{"a":1},{"b"', [{ a: 1 }, {}]],
    ['[', []],
    ['{"a" 1}', {}],
    ['[INF] version 3\n[]\n{"a":1}\n[INF] done\n', { a: 1 }],
    ['[{"a":1},{"b":"c:\\s"}]', [{ a: 1 }, {}]],
    ['{"a":[{"b":1}\n{"c":2}]}', { a: [{ b: 1 }] }],
    ['[]', []],
    ['[{"a":1},\n]', [{ a: 1 }]],
    ['"text"', undefined],
  ])('parses the first value of %j', async (text, json) => {
    const format = await sample(text);
    expect(format.json).toEqual(json);
  });

  it('stops where brackets are nested too deep', async () => {
    expect((await sample('['.repeat(10_000))).json).toBeDefined();
  });

  it('reads at most 256 KiB', async () => {
    const format = await sample(`{"a":1,"b":["${'é'.repeat(200_000)}"]}`);
    expect(format.json).toEqual({ a: 1, b: [] });
    expect(format.text.length).toBeLessThan(140_000);
  });
});

describe('readSample: hostile reports', () => {
  afterEach(() => void vi.restoreAllMocks());
  const MIB = 1024 * 1024;

  it.each([
    ['attributes', '<a ', '&'],
    ['attribute values', '<a b="', '\0'],
    ['document types', '<!DOCTYPE a [', '\0'],
    ['declarations', '<?xml ', '\0'],
    ['processing instructions', '<?a ', '\0'],
    ['tags', '', '</'],
    ['text', '<?a?>', '&<'],
  ])('stops after a few errors in %s', async (_what, start, unit) => {
    const errors = vi.spyOn(SaxesParser.prototype, 'fail');
    const format = await sample(start + unit.repeat(MIB / unit.length), 65_536);
    expect(format.root).toBeUndefined();
    expect(errors.mock.calls.length).toBeLessThanOrEqual(20);
  });

  it.each([
    ['open arrays', '['],
    ['open objects', '{"a":'],
    ['elements', '[1,'],
    ['lines that open objects', '{\n'],
    ['lines that open arrays', '[\n'],
    ['errors', '{"a":0,x'],
    ['long lines that are truncated', `{${'"aaaa":"b",'.repeat(10_000)}\n`],
    ['quotes', '["\\"'],
  ])('parses each character at most four times: %s', async (_what, unit) => {
    const parse = vi.spyOn(JSON, 'parse');
    await sample(unit.repeat(Math.ceil(MIB / unit.length)), 65_536);
    const characters = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(characters).toBeLessThanOrEqual(MIB);
  });
});

describe('matchingFormats', () => {
  it('detects a report by its content', async () => {
    expect(matchingFormats(await sample(FIRST)).map(({ name }) => name)).toEqual(['nmap']);
    for (const text of ['plain text', '<html/>', '{"a":1}', '\0\0\0', '']) {
      expect(matchingFormats(await sample(text))).toEqual([]);
    }
  });
});
