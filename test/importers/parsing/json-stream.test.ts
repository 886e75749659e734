import { describe, expect, it } from 'vitest';
import { streamJsonRecords } from '../../../src/importers/parsing/json-lines.ts';
import { type JsonStreamOptions, streamJsonMatches } from '../../../src/importers/parsing/json-stream.ts';
import { ReportError } from '../../../src/importers/report.ts';
import { inChunks } from '../reports.ts';

async function collectMatches(
  bytes: string | Uint8Array,
  paths: string[],
  { size = 65_536, ...options }: JsonStreamOptions & { size?: number } = {},
) {
  const values: { path: string; keys: string; value: unknown; offset: number }[] = [];
  let error: ReportError | undefined;
  try {
    for await (const match of streamJsonMatches(inChunks(bytes, size), paths, options)) {
      values.push({ ...match, keys: match.keys.join('.') });
    }
  } catch (caught) {
    if (!(caught instanceof ReportError)) throw caught;
    error = caught;
  }
  return { found: values, error };
}

const SARIF = JSON.stringify({
  version: '2.1.0',
  other: [{ results: [1] }, 'a "quoted" \\ text', { deep: { deeper: [null, true, -1.5e3] } }],
  runs: [
    { results: [{ id: 1 }, { id: 2 }], tool: { name: 'a', rules: [{}] } },
    { tool: { name: 'é' }, results: [{ id: 3, text: 'x]}"\\' }] },
    { results: [] },
  ],
  version2: 1,
});

describe('streamJsonMatches', () => {
  it('yields the values at the paths, with chunks of any size', async () => {
    const expected = await collectMatches(SARIF, ['runs.*.tool', 'runs.*.results.*', 'version']);
    expect(expected.error).toBeUndefined();
    expect(expected.found.map(({ path, keys, value }) => [path, keys, value])).toEqual([
      ['version', 'version', '2.1.0'],
      ['runs.*.results.*', 'runs.0.results.0', { id: 1 }],
      ['runs.*.results.*', 'runs.0.results.1', { id: 2 }],
      ['runs.*.tool', 'runs.0.tool', { name: 'a', rules: [{}] }],
      ['runs.*.tool', 'runs.1.tool', { name: 'é' }],
      ['runs.*.results.*', 'runs.1.results.0', { id: 3, text: 'x]}"\\' }],
    ]);
    for (const { offset, value } of expected.found) {
      expect(Buffer.from(SARIF).subarray(offset).toString().startsWith(JSON.stringify(value))).toBe(true);
    }
    for (const size of [1, 2, 7]) {
      expect(await collectMatches(SARIF, ['runs.*.tool', 'runs.*.results.*', 'version'], { size })).toEqual(
        expected,
      );
    }
  });

  it('yields scalars and the root value', async () => {
    const valuesAt = async (text: string, path: string) =>
      (await collectMatches(text, [path])).found.map((p) => p.value);
    expect(await valuesAt('[1,-2.5e1,true,null,"x",[],{}]', '*')).toEqual([1, -25, true, null, 'x', [], {}]);
    expect(await valuesAt(' {"a" : 17 } ', 'a')).toEqual([17]);
    expect(await valuesAt('{"a":{"b":1}}', '')).toEqual([{ a: { b: 1 } }]);
    expect(await valuesAt('12', '')).toEqual([12]);
    expect(await valuesAt('{"a\\u0062":{"*":5}}', 'ab.*')).toEqual([5]);
  });

  it.each<[string, string | Uint8Array, number, RegExp, number]>([
    ['an empty report', '', 0, /empty/, 0],
    ['spaces', ' \n ', 0, /empty/, 3],
    ['no JSON', '[1,x]', 1, /Invalid JSON/, 3],
    ['a truncated report', '[{"a":1},{"b"', 1, /is truncated/, 13],
    ['a report truncated in a word', '[1,tru', 1, /Invalid JSON|truncated/, 3],
    ['a report truncated outside of matches', '[1,2', 1, /truncated/, 4],
    ['a wrong closing bracket', '[1}', 1, /closing bracket is expected/, 2],
    ['a comma too many', '[1,]', 1, /value is expected/, 3],
    ['two documents', '[1] [2]', 1, /more text follows/, 4],
    ['a broken match', '[{"a":1},{"a" 1}]', 1, /Invalid JSON/, 9],
    ['an unquoted name', '[{"a":1},{b:1}]', 1, /Invalid JSON/, 9],
    ['half a pair of brackets', '[{"a":[}]}]', 0, /Invalid JSON/, 1],
    ['a compressed report', Buffer.from([0x1f, 0x8b, 8, 0]), 0, /Invalid JSON/, 0],
  ])('fails at %s', async (_what, bytes, count, message, offset) => {
    for (const size of [1, 65_536]) {
      const { found, error } = await collectMatches(bytes, ['*'], { size });
      expect(error?.message).toMatch(message);
      expect(found).toHaveLength(count);
      if (!/truncated/.test(error?.message ?? '')) expect(error?.location).toEqual({ offset });
    }
  });

  it('limits size, depth and members of matches, and only the depth of other values', async () => {
    const longText = 'x'.repeat(17 * 1024 * 1024);
    const { error } = await collectMatches(` ["${longText}"]`, ['*']);
    expect(error).toMatchObject({
      message: expect.stringContaining('exceeds 16 MiB'),
      location: { offset: 2 },
    });
    expect(await collectMatches(`{"a":"${longText}","b":1}`, ['b'])).toMatchObject({ found: [{ value: 1 }] });
    expect((await collectMatches(`{"${longText}":1}`, ['b'])).error?.message).toMatch(/exceeds 65536 bytes/);
    expect((await collectMatches(`[${'1'.repeat(5_000)}]`, ['b'])).error?.message).toMatch(
      /exceeds 1024 bytes/,
    );
    expect((await collectMatches(`[[${'1,'.repeat(1_000_001)}1]]`, ['*'])).error?.message).toMatch(/members/);
    for (const path of ['*', 'b']) {
      expect((await collectMatches('['.repeat(199) + ']'.repeat(199), [path])).error).toBeUndefined();
      expect((await collectMatches('['.repeat(10_000), [path])).error?.message).toMatch(/200 levels deep/);
    }
  });

  it('accepts trailing commas if allowed', async () => {
    const { found, error } = await collectMatches('[{"a":1},\n{"a":[2]},\n]', ['*'], {
      trailingCommas: true,
    });
    expect(error).toBeUndefined();
    expect(found).toHaveLength(2);
    expect((await collectMatches('{"a":1,}', ['a'], { trailingCommas: true })).error).toBeUndefined();
    expect((await collectMatches('[,1]', ['*'], { trailingCommas: true })).error?.message).toMatch(
      /value is expected/,
    );
  });

  it('yields valid text for any bytes', async () => {
    const wrong = Buffer.from([0x5b, 0x22, 0xff, 0x41, 0x22, 0x5d]);
    expect((await collectMatches(wrong, ['*'])).found[0]?.value).toBe('\uFFFDA');
    expect((await collectMatches('["\\ud800x\\ud83d\\ude00"]', ['*'])).found[0]?.value).toBe('\uFFFDx😀');
    for (const size of [1, 3, 65_536]) {
      const little = Buffer.from('\uFEFF[{"a":"é😀"}]', 'utf16le');
      expect((await collectMatches(little, ['*.a'], { size })).found[0]?.value).toBe('é😀');
      expect((await collectMatches(Buffer.from(little).swap16(), ['*.a'], { size })).found[0]?.value).toBe(
        'é😀',
      );
      expect((await collectMatches('\uFEFF[{"a":"é"}]', ['*.a'], { size })).found[0]?.value).toBe('é');
    }
  });

  it('yields what JSON.parse finds in random documents', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const randomValue = (depth: number): unknown => {
      const kind = random(depth > 4 ? 4 : 6);
      if (kind === 0) return random(1_000) / 7;
      if (kind === 1) return '"\\]}{[,:é😀\n'.slice(random(6));
      if (kind === 2) return null;
      if (kind === 3) return random(2) === 0;
      const members = Array.from({ length: random(5) }, () => randomValue(depth + 1));
      return kind === 4 ? members : Object.fromEntries(members.map((member, at) => [`k"${at}`, member]));
    };
    for (let round = 0; round < 200; round += 1) {
      const document = Array.from({ length: random(4) + 1 }, () => randomValue(0));
      const text = JSON.stringify(document, null, random(3));
      const { found, error } = await collectMatches(text, ['*'], { size: random(9) + 1 });
      expect(error).toBeUndefined();
      expect(found.map(({ value }) => value)).toEqual(document);
    }
  });
});

describe('streamJsonRecords', () => {
  const collectRecords = async (bytes: string | Uint8Array, size = 65_536) => {
    const values = [];
    for await (const group of streamJsonRecords(inChunks(bytes, size))) values.push(...group);
    return values;
  };

  it('yields the value or the error of each line', async () => {
    for (const size of [1, 5, 65_536]) {
      expect(await collectRecords('\uFEFF{"a":1}\r\n\n{"a":\n"é"\n[1]', size)).toEqual([
        { value: { a: 1 }, location: { line: 1 } },
        { error: 'invalid JSON', location: { line: 3 } },
        { value: 'é', location: { line: 4 } },
        { value: [1], location: { line: 5 } },
      ]);
    }
    expect(await collectRecords('')).toEqual([]);
  });

  it('reads records that span several lines, and yields an error for each block of log lines around them', async () => {
    const pretty = JSON.stringify({ a: [1, '}'] }, null, 2);
    for (const size of [1, 65_536]) {
      expect(
        await collectRecords(`[INF] begin\n${pretty}\n[INF] more\n${pretty}\n{"b":2}\ndone\n`, size),
      ).toEqual([
        { error: 'invalid JSON', location: { line: 1 } },
        { value: { a: [1, '}'] }, location: { line: 2 } },
        { error: 'invalid JSON', location: { line: 8 } },
        { value: { a: [1, '}'] }, location: { line: 9 } },
        { value: { b: 2 }, location: { line: 15 } },
        { error: 'invalid JSON', location: { line: 16 } },
      ]);
    }
  });

  it('reads an array of records', async () => {
    const array = JSON.stringify([{ a: 1 }, { a: 2 }], null, 2);
    for (const size of [1, 65_536])
      expect(await collectRecords(` ${array}`, size)).toEqual([
        { value: { a: 1 }, location: { offset: 5 } },
        { value: { a: 2 }, location: { offset: 25 } },
      ]);
    expect(await collectRecords(`log\n${array}`)).toMatchObject([
      { error: 'invalid JSON' },
      { value: { a: 1 } },
      { value: { a: 2 } },
    ]);
  });

  it.each([
    ['{"a":1}\n{\n"a":2', 'The report is truncated: its last line is not valid JSON.', 2],
    ['{"a":1}\n{"a":', 'The report is truncated: its last line is not valid JSON.', 2],
    ['\n<xml/>\nx\n', 'No line of the report is valid JSON.', 2],
  ])('fails with %j', async (report, message, line) => {
    await expect(collectRecords(report)).rejects.toMatchObject({
      name: 'ReportError',
      message,
      location: { line },
    });
  });

  it('accepts 200 levels in a line, and not one more', async () => {
    const nested = `${'{"a":['.repeat(100)}1${']}'.repeat(100)}`;
    expect(await collectRecords(`${nested}\n{"b":${nested}}`)).toEqual([
      { value: JSON.parse(nested), location: { line: 1 } },
      { error: 'line nested more than 200 levels deep', location: { line: 2 } },
    ]);
  });

  it('limits size, depth and members of a line', async () => {
    const longText = `"${'x'.repeat(17 * 1024 * 1024)}"`;
    const deep = '['.repeat(10_000);
    const longArray = `[${'1,'.repeat(1_000_001)}1]`;
    const quoted = JSON.stringify({ text: '[[["\\'.repeat(100_000) });
    expect(await collectRecords(`${longText}\n${deep}\n${longArray}\n${quoted}\n1`)).toEqual([
      { error: 'line of more than 16 MiB', location: { line: 1 } },
      { error: 'line nested more than 200 levels deep', location: { line: 2 } },
      { error: 'line of more than 1000000 members', location: { line: 3 } },
      { value: JSON.parse(quoted), location: { line: 4 } },
      { value: 1, location: { line: 5 } },
    ]);
  });
});
