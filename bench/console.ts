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

/** One line of the report. */
interface Measurement {
  what: string;
  value: number;
  unit: 'ms' | 'kB' | 'rows';
  /** Not more than this. */
  aim: number;
}

const figures: Measurement[] = [];

async function main(): Promise<void> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('There is no Chromium; ASSAY_TEST_BROWSER names one.');
  const kept = process.env['BENCH_DATA'];
  const dataDirectory = kept ?? mkdtempSync(join(tmpdir(), 'assay-bench-'));
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
    progress('changing the status');
    await measureChanges(page);
    progress(`scrolling ${count.toLocaleString('en')} rows`);
    await measureScrolling(page, count);
  } finally {
    await browser.close();
    await server.stop();
    if (kept === undefined) rmSync(dataDirectory, { recursive: true, force: true });
  }
  report(count);
}

/** Keeps figures for the report, and shows them already. */
function note(...more: readonly Measurement[]): void {
  figures.push(...more);
  for (const { what, value, unit } of more) progress(`  ${what}: ${value.toFixed(1)} ${unit}`);
}

interface Visit {
  page: Page;
  /** Milliseconds from the click on "Sign in" until a row can be read. */
  time: number;
  /** Bytes of JavaScript as they were sent. */
  script: number;
}

/** Signs in with a browser profile of its own, so that nothing is in its cache. */
async function visit(browser: Browser, origin: string): Promise<Visit> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const scripts = new Set<string>();
  let script = 0;
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) script += encodedDataLength;
  });
  await page.addInitScript(`
    const look = () => {
      if (document.querySelector('[role="row"] a[href^="/vulnerabilities/"]') === null) requestAnimationFrame(look);
      else requestAnimationFrame(() => { window.readableAt = Date.now(); });
    };
    requestAnimationFrame(look);`);
  await page.goto(`/sign-in?to=${encodeURIComponent(PATH)}`);
  await page.getByLabel('E-mail address').fill(PERSON.email);
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
    const one = await visit(browser, origin);
    await one.page.context().close();
    visits.push(one);
  }
  note(
    {
      what: 'sign-in to the first page readable, median',
      value: median(visits.map(({ time }) => time)),
      unit: 'ms',
      aim: 1_000,
    },
    {
      what: 'JavaScript of it, compressed',
      value: Math.max(...visits.map(({ script }) => script)) / 1_000,
      unit: 'kB',
      aim: 250,
    },
  );
}

/** Waits until an expression holds; what waits in the page itself would break its policy. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate<boolean>(expression))) await new Promise((resolve) => setTimeout(resolve, 15));
}

/** Types words letter by letter, and takes the time from the last one until the rows are those that it finds. */
async function measureSearches(page: Page): Promise<void> {
  const found = (text: string) => `(() => {
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
      document.querySelector('#search').addEventListener('input', (event) => {
        window.typedAt = event.timeStamp;
        const look = () => {
          if (${found(text)}) requestAnimationFrame(() => { window.took = performance.now() - window.typedAt; });
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }, { once: true });
      window.took = undefined;`);
    await page.keyboard.press(text.at(-1) ?? '');
    await until(page, 'window.took !== undefined');
    return page.evaluate<number>('window.took');
  };
  const times: number[] = [];
  for (const text of SEARCHES) times.push(await search(text));
  const every = await search('reflected');
  await page.getByRole('searchbox').fill('');
  await until(page, `!location.search.includes('search')`);
  note(
    { what: 'last letter of a search to its rows, median', value: median(times), unit: 'ms', aim: 150 },
    { what: 'the slowest of them', value: Math.max(...times), unit: 'ms', aim: 150 },
    { what: 'the same for words that every row has', value: every, unit: 'ms', aim: 150 },
  );
}

/** Sets the status of one after the other by keys, and takes the time until the row shows it. */
async function measureChanges(page: Page): Promise<void> {
  const times: number[] = [];
  await page.locator('[role="row"] a').first().waitFor();
  await page.getByRole('grid').focus();
  for (let index = 0; index < CHANGES; index += 1) {
    await page.keyboard.press('j');
    await page.locator('[role="row"][data-current]').waitFor();
    const former = await page.evaluate<string>(`document.querySelector('[data-current]').textContent`);
    await page.keyboard.press('s');
    await page.getByRole('menuitem').first().waitFor();
    await page.evaluate(`
      window.took = undefined;
      document.addEventListener('keydown', (event) => {
        const began = event.timeStamp;
        const look = () => {
          if (document.querySelector('[data-current]').textContent !== ${JSON.stringify(former)})
            requestAnimationFrame(() => { window.took = performance.now() - began; });
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }, { once: true, capture: true });`);
    await page.keyboard.press(former.includes('Fix In Progress') ? '2' : '3');
    await until(page, 'window.took !== undefined');
    times.push(await page.evaluate<number>('window.took'));
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  note({
    what: 'a change of status to the row that shows it, median',
    value: median(times),
    unit: 'ms',
    aim: 100,
  });
}

interface Scrolling {
  frames: number[];
  mostRows: number;
  /** Rows that were seen with what is in them. */
  seen: number;
  seconds: number;
}

/** Scrolls by one and a half windows in every frame, which the rows beyond the window's edges just cover, to the last row. */
async function measureScrolling(page: Page, count: number): Promise<void> {
  await page.goto(PATH);
  await page.locator('[role="row"] a').first().waitFor();
  const result = await page.evaluate<Scrolling>(`new Promise((resolve) => {
    const scroller = document.querySelector('[role="grid"]');
    const step = scroller.clientHeight * 1.5;
    const frames = [];
    const seen = new Set();
    let mostRows = 0;
    const began = performance.now();
    let last = began;
    const draw = (now) => {
      frames.push(now - last);
      last = now;
      const rows = scroller.querySelectorAll('[role="row"]');
      mostRows = Math.max(mostRows, rows.length - 1);
      let complete = true;
      for (const row of rows) {
        const link = row.querySelector('a');
        if (link !== null) seen.add(link.getAttribute('href'));
        else if (row.getAttribute('aria-rowindex') !== '1') complete = false;
      }
      if (seen.size >= ${count})
        resolve({ frames, mostRows, seen: seen.size, seconds: (performance.now() - began) / 1000 });
      else {
        if (complete) scroller.scrollTop += step;
        requestAnimationFrame(draw);
      }
    };
    requestAnimationFrame(draw);
  })`);
  const frames = result.frames.slice(2).sort((one, other) => one - other);
  note(
    {
      what: `a frame while ${count.toLocaleString('en')} rows are scrolled in ${result.seconds.toFixed(0)} s, p95`,
      value: frames[Math.floor(frames.length * 0.95)] ?? 0,
      unit: 'ms',
      aim: 50,
    },
    { what: 'the same, p99', value: frames[Math.floor(frames.length * 0.99)] ?? 0, unit: 'ms', aim: 50 },
    { what: 'rows in the document at most', value: result.mostRows, unit: 'rows', aim: 200 },
    { what: 'rows that were not seen', value: count - result.seen, unit: 'rows', aim: 0 },
  );
}

function report(count: number): void {
  const lines = figures.map(
    ({ what, value, unit, aim }) =>
      `| ${what} | ${value.toLocaleString('en', { maximumFractionDigits: unit === 'rows' ? 0 : 1 })} ${unit} | ≤ ${aim.toLocaleString('en')} ${unit} | ${value <= aim ? 'yes' : 'no'} |`,
  );
  process.stdout.write(
    `${count.toLocaleString('en')} vulnerabilities, ${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}\n\n${['| measured | figure | aim | holds |', '| --- | --- | --- | --- |', ...lines].join('\n')}\n`,
  );
}

await main();
