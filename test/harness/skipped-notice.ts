import { findBrowser } from './browser-path.ts';
import { has, HAS_TERMINAL, PROGRAMS } from './machine.ts';

/** Reports in the last lines of the run which tests were skipped because the machine lacks something. */
export default function setup(): (() => void) | undefined {
  const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
  const missing = names.filter((name) => !has(name)).map((name) => `${PROGRAMS[name]}: install ${name}`);
  if (!HAS_TERMINAL) missing.push('commands on a terminal: install script of util-linux');
  if (findBrowser() === undefined)
    missing.push(
      'the browser tests (test/browser). There is no Chromium or Chrome on this machine: install chromium-headless-shell, chromium or google-chrome, or name one with ASSAY_TEST_BROWSER',
    );
  if (missing.length === 0) return undefined;
  return () => process.stderr.write(`\n${missing.map((what) => `!!! SKIPPED: ${what}.\n`).join('')}`);
}
