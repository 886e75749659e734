import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first are Chromium with nothing around its pages, which does the same tests in three quarters of the time. */
const NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];

/** Where installers put it without adding it to PATH. */
const USUAL_PLACES = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
];

/** @returns the Chromium or Chrome of this machine, or the one that ASSAY_TEST_BROWSER names; nothing is downloaded */
export function findBrowser(): string | undefined {
  const named = process.env['ASSAY_TEST_BROWSER'];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...places, ...USUAL_PLACES].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
