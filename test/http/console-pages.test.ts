import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../src/pages/paths.ts';

const CONSOLE = join(import.meta.dirname, '../../console/src/app');

/** @returns the first path segments that a file of the console names */
function pathsIn(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(CONSOLE, file), 'utf8');
  return [...new Set([...text.matchAll(pattern)].map(([, segment = '']) => segment))].sort();
}

describe('The pages of the console', () => {
  const paths = [...CONSOLE_PATHS].sort();

  it('are the items of its navigation', () => {
    expect(pathsIn('shell.tsx', /\{ to: '\/([a-z]+)'/g)).toEqual(paths);
  });

  it('contain all its routes', () => {
    const routes = pathsIn('router.tsx', /path: '\/([a-z]+)/g);
    expect(routes.filter((route) => !paths.includes(route as (typeof CONSOLE_PATHS)[number]))).toEqual([]);
  });
});
