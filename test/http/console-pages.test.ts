import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../src/pages/paths.ts';

const CONSOLE = join(import.meta.dirname, '../../console/src/app');

/** The first parts of the addresses that a file of the console names like this. */
function named(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(CONSOLE, file), 'utf8');
  return [...new Set([...text.matchAll(pattern)].map(([, place = '']) => place))].sort();
}

describe('The places of the console', () => {
  const places = [...CONSOLE_PATHS].sort();

  it('are in its menu, each of them, and no other', () => {
    expect(named('shell.tsx', /\{ to: '\/([a-z]+)'/g)).toEqual(places);
  });

  it('are all that its routes are under', () => {
    const routes = named('router.tsx', /path: '\/([a-z]+)/g);
    expect(routes.filter((route) => !places.includes(route as (typeof CONSOLE_PATHS)[number]))).toEqual([]);
  });
});
