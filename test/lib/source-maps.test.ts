import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { mapStackTrace } from '../../src/lib/source-maps.ts';

describe('A stack trace of what was built', () => {
  const folder = join(inject('product'), 'dist');
  const built = pathToFileURL(`${folder}/`);
  const placeOf = (lines: string[], text: string) => {
    const line = lines.findIndex((candidate) => candidate.includes(text));
    return `${line + 1}:${(lines[line]?.indexOf(text) ?? 0) + 1}`;
  };

  it('names the file, the line and the column of the source, and leaves what is of others', () => {
    const [from, to] = [join(folder, 'main.js'), 'src/main.ts'].map((path) =>
      placeOf(readFileSync(path, 'utf8').split('\n'), 'process.stdout.on('),
    );
    const otherFrames = '\n    at node:net:1:2\n    at file:///elsewhere/main.js:5:3';
    const stack = `Error: broken\n    at f (${built.href}main.js:${from})${otherFrames}`;
    const [, source = '', rest] =
      /^Error: broken\n    at f \((\S+)\)(.*)$/s.exec(mapStackTrace(stack, built)) ?? [];
    // Paths above the folder of the run are omitted.
    expect(`${join(import.meta.dirname, '../../src/main.ts')}:${to}`.endsWith(source)).toBe(true);
    expect(source).toContain(`src/main.ts:${to}`);
    expect(rest).toBe(otherFrames);
  });

  it('leaves lines without a source map unchanged', () => {
    const stack = `Error: broken\n    at ${built.href}none.js:1:1`;
    expect(mapStackTrace(stack, built)).toBe(stack);
  });
});
