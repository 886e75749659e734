import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createDataDirectory } from '../../src/lib/data-directory.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-data-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('ignores its own contents in a repository, and is for its owner only', () => {
  const path = join(folder, 'a/b');
  createDataDirectory(path);
  expect(readFileSync(join(path, '.gitignore'), 'utf8')).toBe('*\n');
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('leaves an existing directory as it is', () => {
  const path = join(folder, 'existing');
  mkdirSync(path);
  createDataDirectory(path);
  expect(existsSync(join(path, '.gitignore'))).toBe(false);
});
