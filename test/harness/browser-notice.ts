import { findBrowser } from './browser-path.ts';

/** Reports skipped browser tests in the last line of the run. */
export default function setup(): (() => void) | undefined {
  if (findBrowser() !== undefined) return undefined;
  return () =>
    process.stderr.write(
      '\n!!! SKIPPED: the browser tests (test/browser). There is no Chromium or Chrome on this machine: install chromium-headless-shell, chromium or google-chrome, or name one with ASSAY_TEST_BROWSER.\n',
    );
}
