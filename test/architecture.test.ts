import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layerRules, layersPicture, PICTURE, TABLES } from '../scripts/layers.ts';
import { EVERY_FILE, isIn, ON_SQLITE_ALONE } from './engine-matrix.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'src');

describe('A source file', () => {
  it.each(['src', 'console/src'])(
    'of %s never has the base name of a page, so that an import says which it means',
    (folder) => {
      const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
      const namesOf = (extension: string) =>
        files.filter((file) => extname(file) === extension).map((file) => basename(file, extension));
      const pages = new Set(namesOf('.tsx'));
      expect(pages.size).toBeGreaterThan(0);
      expect(namesOf('.ts').filter((name) => pages.has(name))).toEqual([]);
    },
  );

  it('takes the address of a request from the one place that knows the proxies', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    const readers = files.filter((file) =>
      /\brequest\.ips?\b|\bremoteAddress\b/.test(readFileSync(join(SOURCES, file), 'utf8')),
    );
    // The last two handle connections and malformed HTTP, for which there is no request.
    expect(readers.toSorted()).toEqual([
      'http/client-address.ts',
      'http/connection-limits.ts',
      'http/malformed-requests.ts',
    ]);
  });
});

describe('The layers', () => {
  const entriesOf = (path: string) => readdirSync(path).map((name) => name.replace(/\.tsx?$/, ''));

  it('are those that `npx tsx scripts/layers.ts` writes to .oxlint-layers.json and CONTRIBUTING.md', () => {
    expect(readFileSync(join(ROOT, '.oxlint-layers.json'), 'utf8')).toBe(layerRules());
    expect(PICTURE.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'))?.[0]).toBe(layersPicture());
  });

  it.each([
    ['src', SOURCES, TABLES.layers],
    ['src/domain', join(SOURCES, 'domain'), TABLES.domainFolders],
  ])('of %s are all in the table, with the imports that they need and no others', (_, path, table) => {
    expect(entriesOf(path).toSorted()).toEqual(Object.keys(table).toSorted());
    const layerOf = (file: string) => /^[\w-]+/.exec(file)?.[0] ?? '';
    const used: Record<string, Set<string>> = {};
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file)) continue;
      const text = readFileSync(join(path, file), 'utf8');
      for (const [, target = ''] of text.matchAll(/(?:\bfrom|import\() ?'(\.[^']+)'/g)) {
        const [importer, imported] = [file, join(dirname(file), target)].map(layerOf);
        if (importer && imported && importer !== imported) (used[importer] ??= new Set()).add(imported);
      }
    }
    const sorted = (imports: Iterable<string> | undefined) => [...(imports ?? [])].toSorted();
    for (const [layer, imports] of Object.entries(table))
      expect({ layer, imports: sorted(used[layer]) }).toEqual({ layer, imports: sorted(imports) });
  });
});

describe('A dependency of the product', () => {
  const readJson = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
  const OLDEST = /(\d+)\.(\d+)/.exec(readJson('package.json').engines.node)?.slice(1).map(Number) ?? [];

  /** @param range as in `engines`, such as "18 || 20 || >=22" */
  const admitsOldest = (range: string): boolean =>
    range.split('||').some((part) => {
      const [, operator = '', major = '', minor = '0'] =
        /^\s*([>=^~]*)\s*v?(\d+)(?:\.(\d+))?/.exec(part) ?? [];
      if (!operator.startsWith('>')) return Number(major) === OLDEST[0];
      return (
        Number(major) < (OLDEST[0] ?? 0) || (Number(major) === OLDEST[0] && Number(minor) <= (OLDEST[1] ?? 0))
      );
    });

  it('supports the oldest Node.js that the product supports', () => {
    expect(
      ['>=20', '>= 20.19.0', '18 || 20 || >=22', '>=22', '>=20.20', '^18 || >=22'].map(admitsOldest),
    ).toEqual([true, true, true, false, false, false]);
    const { packages } = readJson('package-lock.json') as {
      packages: Record<string, { dev?: boolean; engines?: { node?: string } }>;
    };
    const unsupported = Object.entries(packages).filter(
      ([, { dev = false, engines }]) => !dev && engines?.node !== undefined && !admitsOldest(engines.node),
    );
    expect(unsupported).toEqual([]);
  });
});

describe('A comment', () => {
  const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/[^\n]*/g;

  it('names only what exists, in backticks and as what is thrown', () => {
    const words = new Set<string>();
    const comments: { file: string; text: string }[] = [];
    for (const folder of ['src', 'console/src', 'client/src', 'test', 'bench', 'scripts'])
      for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
        if (!/\.(tsx?|js)$/.test(name) || name.includes('fixtures/')) continue;
        const text = readFileSync(join(ROOT, folder, name), 'utf8');
        for (const [comment] of text.matchAll(COMMENT))
          comments.push({ file: `${folder}/${name}`, text: comment });
        for (const [word] of text.replaceAll(COMMENT, ' ').matchAll(/\w+/g)) words.add(word);
      }
    expect(comments.length).toBeGreaterThan(4_000);
    const mentions = comments.flatMap(({ file, text }) =>
      [...text.matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)(?:\(\))?`|@throws ([A-Z]\w+)/g)].map(
        ([, quoted, thrown]) => ({
          file,
          name: quoted ?? thrown ?? '',
        }),
      ),
    );
    expect(mentions.length).toBeGreaterThan(300);
    expect(mentions.filter(({ name }) => !words.has(name))).toEqual([]);
  });
});

describe('CONTRIBUTING', () => {
  it('names only files that exist', () => {
    const files = ['src', 'console/src', 'test', 'scripts', 'client/src'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `/${folder}/${name}`,
      ),
    );
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const fileNames = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name);
    expect(fileNames.length).toBeGreaterThan(70);
    const missing = fileNames.filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
    expect(missing).toEqual([]);
  });
});

describe('A URL', () => {
  // `URL.canParse` of Node.js 20 and 22 rejects characters such as "ü" after some thousand calls.
  it('is parsed by `URL.parse`', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(files.filter((file) => /canParse\(/.test(readFileSync(join(SOURCES, file), 'utf8')))).toEqual([]);
  });
});

describe('A command', () => {
  const commands = readdirSync(join(SOURCES, 'cli'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `cli/${file}`)
    .toSorted();
  const naming = (pattern: RegExp) =>
    commands.filter((file) => pattern.test(readFileSync(join(SOURCES, file), 'utf8')));

  it('reads and writes what it was given, and leaves the process to `serve`', () => {
    expect(naming(/\bprocess\.(stdin|stdout|stderr|env|argv)\b|\bconsole\./)).toEqual([]);
    expect(naming(/\bprocess\.(exit|exitCode|on|once)\b/)).toEqual([
      // Handles Ctrl-C, because the work that it follows may continue without it.
      'cli/import/api.ts',
      'cli/serve.ts',
    ]);
    // `loadConfig` without a second argument reads the environment of the process.
    expect(naming(/\bloadConfig\([^,()]*\)/)).toEqual([]);
  });
});

describe('A file of tests', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).map(
    (file) => `test/${file}`,
  );
  const tests = files.filter((file) => /\btest\.tsx?$/.test(file));
  const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

  it('runs on both engines, unless a list says where it does', () => {
    expect(tests.length).toBeGreaterThan(50);
    expect(tests.filter((file) => !isIn([EVERY_FILE], file))).toEqual([]);
    // Files with another suffix would not run.
    const misnamed = files.filter((file) => /\b(test|spec)\.\w+$/.test(file) && !tests.includes(file));
    expect(misnamed).toEqual([]);
    for (const pattern of ON_SQLITE_ALONE) {
      expect([pattern, tests.some((file) => isIn([pattern], file))]).toEqual([pattern, true]);
    }
  });

  it('skips nothing, but for the other engine, and nothing for an engine that it never meets', () => {
    const wrong = tests.flatMap((file) =>
      conditionsIn(textOf(file))
        .filter((condition) => {
          // Needs a program that a machine may lack; `skipped-notice.ts` reports skipped tests.
          if (/^(isInstalled\('(bash|zsh|fish|curl)'\)|HAS_TERMINAL)$/.test(condition)) return false;
          const [, name] = /^engine\(\) === '(sqlite|postgres)'$/.exec(condition) ?? [];
          return name === undefined || (name === 'postgres' && isIn(ON_SQLITE_ALONE, file));
        })
        .map((condition) => `${file}: ${condition}`),
    );
    expect(wrong).toEqual([]);
  });

  it('waits for what happens, and compares nothing with a clock', () => {
    const clocks =
      /vi\.waitFor|performance\.now|waitForTimeout|setTimeout as delay|pg_sleep\(\d\.|Date\.now\(\) - \w+At/;
    const clockReaders = files.filter((file) => /\.tsx?$/.test(file) && clocks.test(textOf(file)));
    expect(clockReaders.sort()).toEqual([
      // This file.
      'test/architecture.test.ts',
      // Its limit is the minute for which a server keeps a connection.
      'test/cli/serve.test.ts',
      // Uses a fake clock.
      'test/contract/follow-import.test.ts',
      // Waits for longer than a timeout, which is reliable on slow machines.
      'test/db/migrations.test.ts',
      // Polls.
      'test/harness/demo-template.ts',
      'test/harness/eventually.ts',
      // Measure time, outside Vitest.
      'test/hostile/attacker.ts',
      'test/hostile/run.ts',
    ]);
  });

  it('would be told that it skips', () => {
    const [skip, only, when] = ['skip', 'only', 'runIf'];
    expect(
      conditionsIn(
        `it.${skip}('x'); describe.each([]).${only}('y'); it.${when}(engine() === 'sqlite')('z');`,
      ),
    ).toEqual(['skip', 'only', "engine() === 'sqlite'"]);
  });
});

/** The modifiers in a test file that skip tests: a word, or the condition of a `runIf`. */
function conditionsIn(text: string): string[] {
  const skips = /\.(?:(skip|only|todo|fails|skipIf)\b|runIf\(\s*((?:[^()]|\([^()]*\))*?),?\s*\))/g;
  return [...text.matchAll(skips)].map(([, word, condition]) => word ?? condition ?? '');
}
