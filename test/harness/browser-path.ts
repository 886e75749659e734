import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Headless builds come first: they run the tests in three quarters of the time. */
const NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];

/** Paths of installers that do not add the browser to PATH. */
const INSTALL_PATHS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
];

const FIREFOX_NAMES = ['firefox-esr', 'firefox'];
const FIREFOX_INSTALL_PATHS = ['/Applications/Firefox.app/Contents/MacOS/firefox'];

/** Finds the Chromium or Chrome of this machine, or the one that ASSAY_TEST_BROWSER names. Downloads nothing. */
export const findBrowser = (): string | undefined =>
  find(process.env['ASSAY_TEST_BROWSER'], NAMES, INSTALL_PATHS);

/** Finds the Firefox of this machine, or the one that ASSAY_TEST_FIREFOX names. Downloads nothing. */
export const findFirefox = (): string | undefined =>
  find(process.env['ASSAY_TEST_FIREFOX'], FIREFOX_NAMES, FIREFOX_INSTALL_PATHS);

function find(
  configured: string | undefined,
  names: readonly string[],
  installPaths: readonly string[],
): string | undefined {
  if (configured !== undefined && configured !== '') return configured;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...paths, ...installPaths].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
