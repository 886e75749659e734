import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../test/harness/browser-path.ts';
import { fillForConsole, PERSON } from './console-data.ts';
import { median, progress } from './measure.ts';
import { startAssay } from './processes.ts';

const VISITS = 5;
const SEARCHES = ['input 4711', 'input 77', 'shop 9999', 'tag 7', 'large0 3'];
const CHANGES = 9;
const PATH = '/vulnerabilities';
/** The list of all findings, also of closed ones. */
const ALL = `${PATH}?phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D`;

/** One line of the report. */
interface Measurement {
  name: string;
  value: number;
  unit: 'ms' | 'kB' | 'rows';
  /** Maximum. */
  target: number;
}

const measurements: Measurement[] = [];

async function main(): Promise<void> {
  const executablePath = findBrowser();
  if (executablePath === undefined)
    throw new Error('No Chromium or Chrome was found. Set ASSAY_TEST_BROWSER to its path.');
  const existing = process.env['BENCH_DATA'];
  const dataDirectory = existing ?? mkdtempSync(join(tmpdir(), 'assay-bench-'));
  const count = await fillForConsole(dataDirectory);
  const server = await startAssay({ ASSAY_RATE_LIMIT: '0' }, dataDirectory);
  const browser = await chromium.launch({
    executablePath,
    args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    progress('signing in');
    await measureVisits(browser, origin);
    const { page } = await visit(browser, origin);
    progress('searching');
    await measureSearches(page);
    progress('searching in the command palette');
    await measurePalette(page);
    progress('changing statuses');
    await measureChanges(page);
    progress(`scrolling ${count.toLocaleString('en')} rows`);
    await measureScrolling(page, count);
  } finally {
    await browser.close();
    await server.stop();
    if (existing === undefined) rmSync(dataDirectory, { recursive: true, force: true });
  }
  report(count);
}

/** Adds measurements to the report and prints them. */
function addMeasurements(...added: readonly Measurement[]): void {
  measurements.push(...added);
  for (const { name, value, unit } of added) progress(`  ${name}: ${value.toFixed(1)} ${unit}`);
}

interface Visit {
  page: Page;
  /** Milliseconds from the click on "Sign in" until a row is readable. */
  time: number;
  /** Bytes of JavaScript of the console, compressed. */
  script: number;
}

/** Signs in with a new browser profile, so that its cache is empty. */
async function visit(browser: Browser, origin: string): Promise<Visit> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let script = 0;
  session.on('Network.responseReceived', ({ type, response: { url, headers } }) => {
    if (type === 'Script' && url.includes('/console/')) script += Number(headers['content-length']);
  });
  await page.addInitScript(`
    const check = () => {
      if (document.querySelector('[role="row"] a[href^="/vulnerabilities/"]') === null) requestAnimationFrame(check);
      else requestAnimationFrame(() => { window.readableAt = Date.now(); });
    };
    requestAnimationFrame(check);`);
  await page.goto(`/sign-in?to=${encodeURIComponent(PATH)}`);
  await page.getByLabel('Email address').fill(PERSON.email);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.evaluate(
    `document.querySelector('form').addEventListener('submit', () => { sessionStorage.sentAt = String(Date.now()); })`,
  );
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => url.pathname === PATH);
  await until(page, 'window.readableAt !== undefined');
  const time = await page.evaluate<number>('window.readableAt - Number(sessionStorage.sentAt)');
  await page.waitForLoadState('networkidle');
  return { page, time, script };
}

async function measureVisits(browser: Browser, origin: string): Promise<void> {
  const visits: Visit[] = [];
  for (let index = 0; index < VISITS; index += 1) {
    const visited = await visit(browser, origin);
    await visited.page.context().close();
    visits.push(visited);
  }
  addMeasurements(
    {
      name: 'sign-in to first readable page, median',
      value: median(visits.map(({ time }) => time)),
      unit: 'ms',
      target: 700,
    },
    {
      name: 'JavaScript of the first page, compressed',
      value: Math.max(...visits.map(({ script }) => script)) / 1_000,
      unit: 'kB',
      target: 230,
    },
  );
}

/** Milliseconds. */
const MAX_WAIT = 30_000;

/** Waits until an expression is true. Playwright's own waiting would violate the page's Content-Security-Policy. */
async function until(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + MAX_WAIT;
  while (!(await page.evaluate<boolean>(expression))) {
    if (Date.now() > deadline) throw new Error(`Not true after ${MAX_WAIT} ms: ${expression}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** Types search terms and measures the time from the last letter until the matching rows are shown. */
async function measureSearches(page: Page): Promise<void> {
  const isShown = (text: string) => `(() => {
    const links = [...document.querySelectorAll('[role="row"] a')];
    const search = new URLSearchParams(location.search).get('search');
    return search === ${JSON.stringify(text)} && links.length > 0 && document.querySelector('[aria-busy="true"]') === null;
  })()`;
  const search = async (text: string) => {
    await page.getByRole('searchbox').fill('');
    await until(
      page,
      `!location.search.includes('search') && document.querySelector('[role="row"] a') !== null`,
    );
    await page.getByRole('searchbox').pressSequentially(text.slice(0, -1), { delay: 60 });
    await page.evaluate(`
      window.typedAt = undefined;
      document.querySelector('input[type=search]').addEventListener('input', (event) => {
        window.typedAt = event.timeStamp;
        const check = () => {
          if (${isShown(text)}) requestAnimationFrame(() => { window.took = performance.now() - window.typedAt; });
          else requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
      }, { once: true });
      window.took = undefined;`);
    await page.keyboard.press(text.at(-1) ?? '');
    await until(page, 'window.took !== undefined');
    return page.evaluate<number>('window.took');
  };
  const times: number[] = [];
  for (const text of SEARCHES) times.push(await search(text));
  const common = await search('reflected');
  await page.getByRole('searchbox').fill('');
  await until(page, `!location.search.includes('search')`);
  addMeasurements(
    { name: 'last letter of a search to its rows, median', value: median(times), unit: 'ms', target: 120 },
    { name: 'slowest search', value: Math.max(...times), unit: 'ms', target: 120 },
    { name: 'search for a word in every row', value: common, unit: 'ms', target: 120 },
  );
}

/** Types search terms into the command palette and measures the time from the last letter until a finding is shown. */
async function measurePalette(page: Page): Promise<void> {
  const times: number[] = [];
  for (const text of SEARCHES) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').pressSequentially(text.slice(0, -1), { delay: 60 });
    await page.evaluate(`
      window.took = undefined;
      document.addEventListener('keydown', (event) => {
        const check = () => {
          const isSettled = document.querySelector('[role="dialog"] [role="status"]').textContent !== 'Searching';
          if (isSettled && document.querySelector('[role="option"][href^="/vulnerabilities/"]') !== null)
            requestAnimationFrame(() => { window.took = performance.now() - event.timeStamp; });
          else requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
      }, { once: true, capture: true });`);
    await page.keyboard.press(text.at(-1) ?? '');
    await until(page, 'window.took !== undefined');
    times.push(await page.evaluate<number>('window.took'));
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'hidden' });
  }
  addMeasurements({
    name: 'last letter in the command palette to its findings, median',
    value: median(times),
    unit: 'ms',
    target: 100,
  });
}

/** Sets the status of rows by keyboard and measures the time until the row shows it. */
async function measureChanges(page: Page): Promise<void> {
  const times: number[] = [];
  await page.locator('[role="row"] a').first().waitFor();
  await page.getByRole('grid').focus();
  for (let index = 0; index < CHANGES; index += 1) {
    await page.keyboard.press('j');
    await page.locator('[role="row"][data-current]').waitFor();
    const before = await page.evaluate<string>(`document.querySelector('[data-current]').textContent`);
    await page.keyboard.press('s');
    await page.getByRole('dialog').getByText('Fix in progress').waitFor();
    await page.evaluate(`
      window.took = undefined;
      document.addEventListener('keydown', (event) => {
        const startedAt = event.timeStamp;
        const check = () => {
          if (document.querySelector('[data-current]').textContent !== ${JSON.stringify(before)})
            requestAnimationFrame(() => { window.took = performance.now() - startedAt; });
          else requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
      }, { once: true, capture: true });`);
    await page.keyboard.press(before.includes('Fix in progress') ? '2' : '3');
    await until(page, 'window.took !== undefined');
    times.push(await page.evaluate<number>('window.took'));
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  addMeasurements({
    name: 'status change until the row shows it, median',
    value: median(times),
    unit: 'ms',
    target: 100,
  });
}

interface Scrolling {
  frames: number[];
  mostRows: number;
  /** Rows that were visible with their content. */
  seen: number;
  seconds: number;
}

/** Scrolls to the last row by one and a half viewports per frame, which is as far as the rendered rows reach. */
async function measureScrolling(page: Page, count: number): Promise<void> {
  await page.goto(ALL);
  await page.locator('[role="row"] a').first().waitFor();
  const result = await page.evaluate<Scrolling>(`new Promise((resolve) => {
    const scroller = document.querySelector('[role="grid"]');
    const step = scroller.clientHeight * 1.5;
    const frames = [];
    const seen = new Set();
    let mostRows = 0;
    const startedAt = performance.now();
    let last = startedAt;
    const draw = (now) => {
      frames.push(now - last);
      last = now;
      const rows = scroller.querySelectorAll('[role="row"]');
      mostRows = Math.max(mostRows, rows.length - 1);
      let complete = true;
      for (const row of rows) {
        const link = row.querySelector('a');
        if (row.querySelector('[aria-expanded]') !== null) continue;
        if (link !== null) seen.add(link.getAttribute('href'));
        else if (row.getAttribute('aria-rowindex') !== '1') complete = false;
      }
      if (seen.size >= ${count})
        resolve({ frames, mostRows, seen: seen.size, seconds: (performance.now() - startedAt) / 1000 });
      else {
        if (complete) scroller.scrollTop += step;
        requestAnimationFrame(draw);
      }
    };
    requestAnimationFrame(draw);
  })`);
  const frames = result.frames.slice(2).sort((one, other) => one - other);
  addMeasurements(
    {
      name: `frame time while scrolling ${count.toLocaleString('en')} rows in ${result.seconds.toFixed(0)} s, p95`,
      value: frames[Math.floor(frames.length * 0.95)] ?? 0,
      unit: 'ms',
      target: 33,
    },
    { name: 'frame time, p99', value: frames[Math.floor(frames.length * 0.99)] ?? 0, unit: 'ms', target: 50 },
    { name: 'most rows in the document', value: result.mostRows, unit: 'rows', target: 200 },
    { name: 'rows not shown', value: count - result.seen, unit: 'rows', target: 0 },
  );
}

function report(count: number): void {
  const lines = measurements.map(
    ({ name, value, unit, target }) =>
      `| ${name} | ${value.toLocaleString('en', { maximumFractionDigits: unit === 'rows' ? 0 : 1 })} ${unit} | ≤ ${target.toLocaleString('en')} ${unit} | ${value <= target ? 'yes' : 'no'} |`,
  );
  process.stdout.write(
    `${count.toLocaleString('en')} vulnerabilities, ${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}\n\n${['| measurement | value | target | met |', '| --- | --- | --- | --- |', ...lines].join('\n')}\n`,
  );
}

await main();
