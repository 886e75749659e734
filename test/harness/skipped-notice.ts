import type { TestProject } from 'vitest/node';
import { findBrowser, findFirefox } from './browser-path.ts';
import { isInstalled, HAS_TERMINAL, PROGRAMS } from './machine.ts';

/** Names the skipped tests in the last lines of the run: the machine lacks a program, or `npm test` omits them. */
export default function setup({ vitest }: TestProject): (() => void) | undefined {
  const runs = (name: string) => vitest.projects.some((project) => project.name === name);
  const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
  const missing = names
    .filter((name) => !isInstalled(name))
    .map((name) => `${PROGRAMS[name]}: install ${name}`);
  if (!HAS_TERMINAL) missing.push('commands on a terminal: install script of util-linux');
  if (runs('browser') && findBrowser() === undefined)
    missing.push(
      'the browser tests (test/browser). There is no Chromium or Chrome on this machine: install chromium-headless-shell, chromium or google-chrome, or name one with ASSAY_TEST_BROWSER',
    );
  if (runs('browser') && findFirefox() === undefined)
    missing.push(
      'the pages in Firefox (test/browser/firefox.test.ts). There is no Firefox on this machine: install firefox-esr or firefox, or name one with ASSAY_TEST_FIREFOX',
    );
  const lines = missing.map((tests) => `!!! SKIPPED: ${tests}.`);
  if (process.env['npm_lifecycle_event'] === 'test')
    lines.push(
      'These were the tests on SQLite. `npm run test:all` also runs those on PostgreSQL and in a browser.',
    );
  return () => process.stderr.write(lines.length === 0 ? '' : `\n${lines.join('\n')}\n`);
}
