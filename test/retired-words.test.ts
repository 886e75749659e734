import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RETIRED_PHRASES, RETIRED_WORDS, VAGUE_NAMES } from './retired-words.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src', 'console/src', 'client/src'];

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.d)\.(ts|tsx|js)$/.test(file))
    .map((file) => `${folder}/${file}`);
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
/** Returns the words of `HTTPRequest`, `http-request` or `HTTP_REQUEST`, in lower case. */
const wordsOf = (name: string) =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
const retiredIn = (name: string) => wordsOf(name).filter((word) => Object.hasOwn(RETIRED_WORDS, word));
const exportsOf = (file: string) =>
  [
    ...textOf(file).matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
    ),
  ].map(([, name = '']) => name);

describe('Names', () => {
  it('of files use no retired word', () => {
    const files = [...SOURCES, 'bench', 'scripts', 'test'].flatMap(filesIn);
    expect(files.length).toBeGreaterThan(700);
    const wrong = files.filter(
      (file) =>
        !file.startsWith('test/fixtures/') && retiredIn(basename(file).split('.')[0] ?? '').length > 0,
    );
    expect(wrong.filter((file) => !file.startsWith('test/retired-words'))).toEqual([]);
  });

  it('that are exported use no retired word', () => {
    const wrong = SOURCES.flatMap(filesIn).flatMap((file) =>
      exportsOf(file).flatMap((name) =>
        retiredIn(name).map((word) => `${file}: ${name}: ${RETIRED_WORDS[word]}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('of variables say what they hold', () => {
    const declaration = new RegExp(`\\b(?:const|let) \\[?(${Object.keys(VAGUE_NAMES).join('|')})\\b`, 'g');
    const wrong = [...SOURCES, 'bench', 'scripts', 'test']
      .flatMap(filesIn)
      .flatMap((file) =>
        [...textOf(file).matchAll(declaration)].map(
          ([, name = '']) => `${file}: ${name}: ${VAGUE_NAMES[name]}`,
        ),
      );
    expect(wrong).toEqual([]);
  });

  it.each(SOURCES)('are exported from one file of %s only', (folder) => {
    const files = new Map<string, string[]>();
    for (const file of filesIn(folder))
      for (const name of new Set(exportsOf(file))) files.set(name, [...(files.get(name) ?? []), file]);
    expect([...files].filter(([, where]) => where.length > 1)).toEqual([]);
  });
});

describe('Texts that people read', () => {
  it('use no retired phrase', () => {
    const files = [
      ...filesIn('console/src'),
      ...filesIn('src/cli'),
      ...filesIn('src/account'),
      ...filesIn('src/page-kit'),
      ...filesIn('src/oauth'),
      'src/domain/shared/error-codes.ts',
    ];
    const wrong = files.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
        .flatMap((line) =>
          Object.entries(RETIRED_PHRASES)
            .filter(([phrase]) => line.toLowerCase().includes(phrase))
            .map(([phrase, better]) => `${file}: ${phrase}: ${better}: ${line.trim()}`),
        ),
    );
    expect(wrong).toEqual([]);
  });
});
