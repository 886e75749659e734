// The pages that pictures are taken of, and the steps to the state of each picture.
import type { Page } from 'playwright-core';

/** The user who opens a page: one of the demo data, or the admin of an organization without findings. */
export type Viewer = 'admin' | 'staff' | 'newcomer';

export interface Picture {
  /** The name of the file, and of the design. */
  name: string;
  /** Without one, the page is public. */
  viewer?: Viewer;
  path: string;
  /** Steps from the loaded page to the state of the picture. */
  prepare?: (page: Page) => Promise<unknown>;
}

type Finding = readonly [title: string, level: 'error' | 'warning' | 'note', file: string];

const FINDINGS: readonly Finding[] = [
  ['Session token in the log of the app', 'error', 'src/log/session.kt'],
  ['Certificate of the server is not checked', 'error', 'src/net/client.kt'],
  ['Backup of the app contains the database', 'warning', 'src/manifest.xml'],
  ['Screen with personal data in the list of recent apps', 'warning', 'src/ui/trips.kt'],
  ['Deprecated hash for the cache key', 'note', 'src/cache/key.kt'],
  ['Exported activity without a permission', 'error', 'src/ui/link.kt'],
  ['Key of the map service in the app', 'warning', 'src/map/key.kt'],
  ['Clipboard keeps the booking code', 'note', 'src/ui/code.kt'],
];

/** @returns a SARIF report of some of the findings */
export const reportOf = (from: number, to: number): string =>
  JSON.stringify({
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'App scan',
            rules: FINDINGS.slice(from, to).map(([text], index) => ({
              id: `rule-${from + index}`,
              shortDescription: { text },
            })),
          },
        },
        results: FINDINGS.slice(from, to).map(([text, level, uri], index) => ({
          ruleId: `rule-${from + index}`,
          level,
          message: { text },
          locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 12 } } }],
        })),
      },
    ],
  });

/** The assessment that reports are imported into. */
export const IMPORTED_ASSESSMENT = 'acme-mobile-2026';

/** Opens the preview of the first row. */
async function openPreview(page: Page): Promise<void> {
  await page.locator('[id="row-0"] a').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('o');
  await page.locator('aside h2').waitFor();
}

async function openReport(page: Page): Promise<void> {
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({
      name: 'app-scan.sarif',
      mimeType: 'application/json',
      buffer: Buffer.from(reportOf(2, 8)),
    });
  await page.getByRole('tab', { name: /new$/ }).waitFor();
}

async function search(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill('ship');
  await page.getByRole('option').filter({ hasText: 'shipment' }).first().waitFor();
}

async function rate(page: Page): Promise<void> {
  await page.getByLabel('Title').fill('Booking reference is guessable');
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N';
  await page.getByLabel('CVSS vector').fill(vector);
  await page.keyboard.press('Tab');
}

export const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'empty', viewer: 'newcomer', path: '/' },
  { name: 'home-customer', viewer: 'admin', path: '/' },
  { name: 'home-staff', viewer: 'staff', path: '/' },
  { name: 'vulnerabilities', viewer: 'admin', path: '/vulnerabilities', prepare: openPreview },
  { name: 'vulnerabilities-staff', viewer: 'staff', path: '/vulnerabilities?group=assessment' },
  { name: 'finding', viewer: 'staff', path: '/vulnerabilities/26' },
  { name: 'finding-new', viewer: 'staff', path: '/vulnerabilities/new', prepare: rate },
  { name: 'assessments', viewer: 'admin', path: '/assessments' },
  { name: 'assessment', viewer: 'staff', path: '/assessments/acme-web-2026' },
  { name: 'assets', viewer: 'admin', path: '/assets' },
  { name: 'imports', viewer: 'admin', path: '/imports' },
  {
    name: 'import-preview',
    viewer: 'admin',
    path: `/imports?assessment_id=%5B%22${IMPORTED_ASSESSMENT}%22%5D`,
    prepare: openReport,
  },
  { name: 'import-result', viewer: 'admin', path: '/imports/2' },
  { name: 'command-palette', viewer: 'admin', path: '/vulnerabilities', prepare: search },
  { name: 'tags', viewer: 'admin', path: '/tags' },
  { name: 'groups', viewer: 'admin', path: '/groups' },
  { name: 'people', viewer: 'admin', path: '/people' },
  { name: 'audit', viewer: 'admin', path: '/audit' },
  { name: 'account', viewer: 'admin', path: '/account' },
  { name: 'account-security', viewer: 'admin', path: '/account/security' },
  { name: 'account-sessions', viewer: 'admin', path: '/account/sessions' },
  { name: 'account-tokens', viewer: 'admin', path: '/account/tokens' },
  { name: 'account-applications', viewer: 'admin', path: '/account/applications' },
];

/** The pictures of docs/tour.md, besides that of the README. */
export const TOUR: readonly string[] = [
  'home-customer',
  'finding',
  'finding-new',
  'assessment',
  'import-preview',
  'import-result',
  'command-palette',
];
