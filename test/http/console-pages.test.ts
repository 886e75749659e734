import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../src/page-kit/paths.ts';

const CONSOLE = join(import.meta.dirname, '../../console/src/app');

/** @returns the first path segments in a file of the console */
function pathsIn(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(CONSOLE, file), 'utf8');
  return [...new Set([...text.matchAll(pattern)].map(([, segment = '']) => segment))].sort();
}

describe('CONSOLE_PATHS', () => {
  const paths = [...CONSOLE_PATHS].sort();

  it('match the items of the navigation', () => {
    expect(pathsIn('nav-items.ts', /\bto: '\/([a-z]+)'/g)).toEqual(paths);
  });

  it('contain all routes', () => {
    const routes = pathsIn('router.tsx', /path: '\/([a-z]+)/g);
    expect(routes.filter((route) => !paths.includes(route as (typeof CONSOLE_PATHS)[number]))).toEqual([]);
  });
});
