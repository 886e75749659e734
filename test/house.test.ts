import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '../src');

describe('A source file', () => {
  it('never has the base name of a page, so that an import says which of them it means', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
    const namesOf = (extension: string) =>
      files.filter((file) => extname(file) === extension).map((file) => basename(file, extension));
    const pages = new Set(namesOf('.tsx'));
    expect(pages.size).toBeGreaterThan(0);
    expect(namesOf('.ts').filter((name) => pages.has(name))).toEqual([]);
  });

  it('takes the address of a request from the one place that knows the proxies', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    const readers = files.filter((file) =>
      /\brequest\.ips?\b|\bremoteAddress\b/.test(readFileSync(join(SOURCES, file), 'utf8')),
    );
    // What is no HTTP at all has no request to read from.
    expect(readers.toSorted()).toEqual(['http/broken-requests.ts', 'http/client-address.ts']);
  });
});
