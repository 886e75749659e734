import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decompress } from '../../../src/importers/parsing/decompress.ts';
import { ReportError } from '../../../src/importers/report.ts';
import { zip, entry } from '../../harness/zip.ts';
import { inChunks } from '../reports.ts';

async function unpacked(bytes: Uint8Array, { size = 1_000, known: isSizeKnown = true } = {}) {
  const parts: Uint8Array[] = [];
  let error: string | undefined;
  try {
    const source = decompress(() => inChunks(bytes, size), isSizeKnown ? bytes.length : undefined);
    for await (const chunk of source()) parts.push(chunk.slice());
  } catch (caught) {
    if (!(caught instanceof ReportError)) throw caught;
    error = caught.message;
  }
  return { text: Buffer.concat(parts).toString('latin1'), error };
}

const textOf = (numbers: number) =>
  Array.from({ length: numbers }, (_, index) => `${(index * 7_919) % 10_007}`).join(' ');
/** Larger than one decompressed chunk. */
const TEXT = textOf(20_000);
/** Short, for chunks of one byte. */
const SHORT_TEXT = textOf(2_000);

describe('decompress', () => {
  it.each<[string, (text: string) => Uint8Array]>([
    ['not at all', (text) => Buffer.from(text)],
    ['with gzip', (text) => gzipSync(text)],
    [
      'with gzip, in members',
      (text) => {
        const limit = Math.floor(text.length * 0.7);
        return Buffer.concat([gzipSync(text.slice(0, limit)), gzipSync(text.slice(limit))]);
      },
    ],
    ['with zip', (text) => zip(entry('a.json', text))],
    ['with zip, stored', (text) => zip(entry('a.json', text, { method: 0 }))],
    ['with zip, as a stream', (text) => zip(entry('a.json', text, { described: true }))],
    [
      'with zip, beside what a file manager adds',
      (text) =>
        zip(
          entry('a/', '', { method: 0 }),
          entry('a/b', text, { described: true }),
          entry('__MACOSX/a', 'x'),
        ),
    ],
    ['by the program zip', (text) => execFileSync('zip', ['-q', '-', '-'], { input: text })],
  ])('reads a report packed %s', async (_how, pack) => {
    expect(await unpacked(pack(SHORT_TEXT), { size: 1 })).toEqual({ text: SHORT_TEXT });
    const compressed = pack(TEXT);
    for (const size of [999, 1_000_000]) expect(await unpacked(compressed, { size })).toEqual({ text: TEXT });
    expect(await unpacked(compressed, { known: false })).toEqual({ text: TEXT });
  });

  it.each<[string, () => Uint8Array, RegExp]>([
    ['gzip that is cut', () => gzipSync(TEXT).subarray(0, -200), /is truncated/],
    ['gzip that is cut in its end', () => gzipSync(TEXT).subarray(0, -4), /is truncated/],
    ['gzip of another sum', () => gzipSync(TEXT).fill(0, gzipSync(TEXT).length - 8), /damaged/],
    ['a zip that is cut', () => zip(entry('a', TEXT)).subarray(0, 20_000), /is truncated/],
    ['a zip of two', () => zip(entry('a', TEXT), entry('b', TEXT)), /more than one/],
    [
      'a zip of two that were streamed',
      () => zip(entry('a', TEXT, { described: true }), entry('b', '')),
      /more than one/,
    ],
  ])('%s: yields what is readable, then fails', async (_what, compressed, message) => {
    const { text, error } = await unpacked(compressed());
    expect(error).toMatch(message);
    expect(TEXT.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(30_000);
  });

  it.each<[string, () => Uint8Array, RegExp]>([
    ['a zip of nothing', () => zip(entry('a/', '', { method: 0 })), /contains no file/],
    ['an encrypted zip', () => zip(entry('a', TEXT, { flags: 1 })), /encrypted/],
    ['a zip packed otherwise', () => zip(entry('a', TEXT, { method: 12 })), /unsupported compression/],
    ['a gzip of nothing but its mark', () => Buffer.from([0x1f, 0x8b]), /is truncated/],
  ])('%s: fails', async (_what, compressed, message) => {
    expect((await unpacked(compressed())).error).toMatch(message);
  });

  it('fails if a report decompresses to more than 200 times its size', async () => {
    // More than is decompressed before the ratio is checked if the size is unknown.
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024));
    const { text, error } = await unpacked(bomb);
    expect(error).toMatch(/200 times/);
    expect(text.length).toBeLessThanOrEqual(bomb.length * 200);
    expect((await unpacked(bomb, { known: false })).error).toMatch(/200 times/);
    expect((await unpacked(zip(entry('a', '\0'.repeat(10_000_000))))).error).toMatch(/200 times/);
  });

  it('counts what it decompresses of entries that it skips', async () => {
    const zeros = '\0'.repeat(10_000_000);
    const report = entry('a', SHORT_TEXT);
    const described = zip(report, entry('__MACOSX/a', zeros, { described: true }));
    expect(await unpacked(described)).toEqual({
      text: SHORT_TEXT,
      error: 'The file decompresses to more than 200 times its size.',
    });
    // The header has the size, so that there is nothing to decompress.
    expect(await unpacked(zip(report, entry('__MACOSX/a', zeros)))).toEqual({ text: SHORT_TEXT });
  });

  it('fails if a zip has more than 1,000 entries', async () => {
    const folders = Array.from({ length: 1_000 }, () => entry('a/', '', { method: 0 }));
    const report = entry('a/b', SHORT_TEXT);
    expect(await unpacked(zip(report, ...folders.slice(1)))).toEqual({ text: SHORT_TEXT });
    expect(await unpacked(zip(report, ...folders))).toEqual({
      text: SHORT_TEXT,
      error: 'The zip file contains more than 1000 entries.',
    });
  });
});
