import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Database } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { type CommandLine, startCommandLine } from './command-line.ts';

const main = join(inject('product'), 'dist/main.js');
/** `script` of util-linux runs a command on a terminal; those of other systems have other options. */
const HAS_TERMINAL = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');
const CTRL_C = '\u0003';

let assay: CommandLine;
let folder: string;
let db: Database;
const processes = new Set<ChildProcess>();
beforeAll(async () => {
  assay = await startCommandLine();
  folder = temporaryFolder();
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('assessment', 'create', 'web', '--organization', 'acme', '--name', 'web');
  db = await openDatabase({ ...assay.database, timeout: 10_000 });
});
afterAll(async () => {
  await db?.close();
  for (const child of processes) child.kill('SIGKILL');
  await assay.close();
});

const env = () => ({ PATH: process.env['PATH'], ASSAY_DATA: assay.database.dataDirectory });

function startProcess(command: string, args: readonly string[]) {
  const child = spawn(command, args, { cwd: folder, env: env() });
  processes.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, ended, output: () => output };
}

/** Starts a command on a terminal of 80 columns. */
function startOnTerminal(...args: string[]) {
  const line = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ');
  return startProcess('script', ['-qec', `stty cols 80; exec ${line}`, '/dev/null']);
}

const outputMatches = (running: { output(): string }, text: string | RegExp) =>
  vi.waitFor(() => expect(running.output()).toMatch(text), { timeout: 60_000, interval: 10 });

const CSV = 'Wo;Was;Wie schlimm\nhttps://shop.example/;SQL injection;High\nhttps://shop.example/;XSS;Low\n';
const put = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('assay import of a CSV report with unrecognised columns', () => {
  it.runIf(HAS_TERMINAL)('prompts for the columns on a terminal and saves the mapping', async () => {
    const report = put('asked.csv', CSV);
    const terminal = startOnTerminal('import', report, '--assessment', 'web', '--json');
    await outputMatches(terminal, /title \(required\) \[-\]: /);
    terminal.child.stdin.write('was\n3\n');
    await outputMatches(terminal, /description \[-\]: /);
    terminal.child.stdin.write(`${'\n'.repeat(5)}1\n`);
    await outputMatches(terminal, /Save the mapping to a file for --mapping \[none\]: /);
    terminal.child.stdin.write('columns.json\n');
    expect(await terminal.ended).toBe(0);
    expect(terminal.output()).toContain(`--map title=Was --map 'severity=Wie schlimm' --map url=Wo`);
    expect(terminal.output()).toContain('"findings_created":2');
    expect(JSON.parse(readFileSync(join(folder, 'columns.json'), 'utf8'))).toEqual({
      title: 'Was',
      severity: 'Wie schlimm',
      url: 'Wo',
    });
    const again = ['import', report, '--assessment', 'web', '--mapping', join(folder, 'columns.json')];
    expect(await assay.json(...again)).toMatchObject({ format: 'csv', result: { findings_seen_again: 2 } });
  });

  it.runIf(HAS_TERMINAL)('imports nothing if Ctrl-C interrupts the prompts', async () => {
    const terminal = startOnTerminal('import', put('left.csv', CSV), '--assessment', 'web');
    await outputMatches(terminal, /title \(required\) \[-\]: /);
    terminal.child.stdin.write(CTRL_C);
    expect(await terminal.ended).toBe(1);
    expect(terminal.output()).toContain('The column mapping is incomplete');
  });

  it('fails without a terminal and names the options that map columns', async () => {
    const report = put('piped.csv', CSV);
    for (const [words, input] of [
      [[report]],
      [['csv', report]],
      [['-'], CSV],
      [['csv', '-'], CSV],
    ] as const) {
      const { code, stderr } = await assay.run(
        ['import', ...words, '--assessment', 'web'],
        input === undefined ? {} : { input },
      );
      expect(code).toBe(1);
      expect(stderr).toContain(
        "columns (Wo, Was, 'Wie schlimm') are not recognised. Map them with --map title=COLUMN --map severity=COLUMN, or with --mapping FILE.",
      );
    }
  });

  it('detects the format if columns are mapped', async () => {
    const map = ['--map', 'title=Was', '--map', 'severity=Wie schlimm', '--map', 'url=Wo'];
    const report = put('mapped.csv', CSV.replace('XSS', 'Redirect'));
    const imported = await assay.json('import', report, '--assessment', 'web', ...map);
    expect(imported).toMatchObject({
      format: 'csv',
      result: { findings_created: 1, findings_seen_again: 1 },
    });
  });
});

/** Enough findings that the import is still running when it is interrupted. */
const LARGE = 5_000;

/** Returns a report with one finding per rule. */
const nucleiReport = (rules: number) =>
  Array.from({ length: rules }, (_, index) =>
    JSON.stringify({
      'template-id': `rule-${index}`,
      info: { name: `Rule ${index}`, severity: 'low', description: 'x'.repeat(500) },
      type: 'http',
      host: 'https://shop.example',
      'matched-at': 'https://shop.example/',
      timestamp: '2026-11-01T10:00:00Z',
    }),
  ).join('\n');

const importNamed = (filename: string) =>
  db.read.selectFrom('imports').select(['id', 'state']).where('filename', '=', filename).executeTakeFirst();
const importRuns = (filename: string) =>
  vi.waitFor(
    async () => {
      const found = await importNamed(filename);
      expect(found?.state).toBe('running');
      return found as NonNullable<typeof found>;
    },
    { timeout: 60_000, interval: 20 },
  );

describe('assay import as a process', () => {
  it('cancels the import on Ctrl-C and reports what was imported', async () => {
    const name = 'cancelled.jsonl';
    const report = put(name, nucleiReport(LARGE));
    const running = startProcess(process.execPath, [main, 'import', report, '--assessment', 'web']);
    const { id } = await importRuns(name);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(1);
    expect(running.output()).toMatch(
      new RegExp(
        `${name}: the import was cancelled\\. (Nothing was imported\\.|Part of the report was imported\\. To undo it, run "assay import undo ${id}"\\.)`,
      ),
    );
    expect(running.output()).toMatch(/ nuclei +cancelled /);
    expect(await importNamed(name)).toMatchObject({ state: 'cancelled' });
  });
});

describe.each(['data folder', 'server'] as const)('assay import with the %s', (target) => {
  let targetArgs: string[] = [];
  let uid: string;
  beforeAll(async () => {
    if (target === 'data folder') return;
    const { origin } = await assay.serveHere();
    await assay.json('user', 'create', '--email', 'jo@acme.example', '--organization', 'acme', '--admin');
    const { token } = await assay.json('token', 'create', '--user', 'jo@acme.example');
    targetArgs = ['--server', origin, '--token', token];
  });
  // Imports of one assessment run one after another.
  beforeEach(async () => {
    uid = `web-${randomUUID()}`;
    await assay.json('assessment', 'create', uid, '--organization', 'acme', '--name', uid);
  });

  it('stops waiting on the second Ctrl-C; "import follow" shows the end', async () => {
    const name = `left-${uid}.jsonl`;
    const report = put(name, nucleiReport(LARGE));
    const running = assay.start(['import', report, '--assessment', uid, ...targetArgs]);
    const { id } = await importRuns(name);
    await Promise.all([running.interrupt(), running.interrupt()]);
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain(
      `Stopped waiting for import ${id}, which continues. Run "assay import follow ${id}"`,
    );
    await assay.run(['import', 'cancel', String(id), ...targetArgs]);
    const followed = await assay.run(['import', 'follow', String(id), ...targetArgs]);
    expect(followed).toMatchObject({ code: 1, stdout: expect.stringMatching(/ cancelled /) });
  });

  it('cancels the upload of an unfinished standard input on Ctrl-C', async () => {
    const running = assay.start(['import', '-', '--assessment', uid, ...targetArgs]);
    // More than the stream buffers: the callback runs once the command has read from it.
    const text = `{"template-id":${' '.repeat(256 * 1024)}`;
    await new Promise<unknown>((resolve) => running.stdin.write(text, resolve));
    await running.interrupt();
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain('The upload of standard input was cancelled. Nothing was imported.');
  });
});

it('assay import --watch imports complete files, and continues after an invalid one', async () => {
  const { origin } = await assay.serveHere();
  const email = 'watcher@acme.example';
  await assay.json('user', 'create', '--email', email, '--organization', 'acme', '--admin');
  const { token } = await assay.json('token', 'create', '--user', email);
  const watched = mkdtempSync(join(folder, 'watched-'));
  const report = (rule: string) => nucleiReport(1).replaceAll('rule-0', rule);
  writeFileSync(join(watched, 'a-bad.txt'), 'hello');
  symlinkSync('/nowhere/at/all', join(watched, 'b-dangling.json'));
  const running = assay.start(['import', watched, '--watch', '--assessment', 'web', '--json'], {
    env: { ASSAY_SERVER: origin, ASSAY_TOKEN: token, ASSAY_WATCH_INTERVAL: '100' },
  });
  await outputMatches(running, /a-bad\.txt: it has an unrecognised format/);

  const growing = join(watched, 'growing.jsonl');
  const [first, second] = [report('one'), report('two')] as const;
  writeFileSync(growing, first.slice(0, 100));
  const writing = setInterval(() => utimesSync(growing, new Date(), new Date()), 10);
  writeFileSync(join(watched, 'moved.tmp'), second);
  renameSync(join(watched, 'moved.tmp'), join(watched, 'moved.jsonl'));
  await outputMatches(running, /"filename":"moved\.jsonl"/);
  // Written before moved.jsonl, but still changing.
  expect(running.output()).not.toContain('growing.jsonl');
  clearInterval(writing);
  writeFileSync(growing, first);
  await outputMatches(running, /"filename":"growing\.jsonl"/);
  const lines = running
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"id"'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { state: 'succeeded', result: { findings_created: 1 } },
    { state: 'succeeded', result: { findings_created: 1 } },
  ]);
  await running.interrupt();
  expect(await running.ended).toBe(1);
  expect(running.output()).toMatch(/1 of the reports was not imported completely\.\n$/);
});
