import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { eventually } from '../harness/eventually.ts';
import { HELD_REPORT, startImportGate } from '../harness/import-gate.ts';
import { HAS_TERMINAL } from '../harness/machine.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { startCommandLine } from './command-line.ts';

const main = join(inject('product'), 'dist/main.js');
const CTRL_C = '\u0003';

let folder: string;
let db: Database;
const processes = new Set<ChildProcess>();
const gate = await startImportGate();
const assay = await startCommandLine('migrated', gate.environment);
beforeAll(async () => {
  folder = temporaryFolder();
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('assessment', 'create', 'web', '--organization', 'acme', '--name', 'web');
  db = await openDatabase({ ...assay.database, timeout: 30_000 });
});
afterAll(async () => {
  await db?.close();
  for (const child of processes) child.kill('SIGKILL');
  await assay.close();
  await gate.stop();
});
afterEach(() => gate.release());

const env = () => ({
  PATH: process.env['PATH'],
  ASSAY_DATA: assay.database.dataDirectory,
  ...gate.environment,
});

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
  eventually(() => expect(running.output()).toMatch(text));

const CSV = 'Wo;Was;Wie schlimm\nhttps://shop.example/;SQL injection;High\nhttps://shop.example/;XSS;Low\n';
const write = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('assay import of a CSV report with unrecognised columns', () => {
  it.runIf(HAS_TERMINAL)('prompts for the columns on a terminal and saves the mapping', async () => {
    const report = write('asked.csv', CSV);
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
    const command = ['import', report, '--assessment', 'web', '--mapping', join(folder, 'columns.json')];
    expect(await assay.json(...command)).toMatchObject({ format: 'csv', result: { findings_seen_again: 2 } });
  });

  it.runIf(HAS_TERMINAL)('imports nothing if Ctrl-C interrupts the prompts', async () => {
    const terminal = startOnTerminal('import', write('left.csv', CSV), '--assessment', 'web');
    await outputMatches(terminal, /title \(required\) \[-\]: /);
    terminal.child.stdin.write(CTRL_C);
    expect(await terminal.ended).toBe(1);
    expect(terminal.output()).toContain('The column mapping is incomplete');
  });

  it('fails without a terminal and names the options that map columns', async () => {
    const report = write('piped.csv', CSV);
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
    const report = write('mapped.csv', CSV.replace('XSS', 'Redirect'));
    const imported = await assay.json('import', report, '--assessment', 'web', ...map);
    expect(imported).toMatchObject({
      format: 'csv',
      result: { findings_created: 1, findings_seen_again: 1 },
    });
  });
});

const nucleiReport = (rule: string) =>
  JSON.stringify({
    'template-id': rule,
    info: { name: `Rule ${rule}`, severity: 'low', description: 'x'.repeat(500) },
    type: 'http',
    host: 'https://shop.example',
    'matched-at': 'https://shop.example/',
    timestamp: '2026-11-01T10:00:00Z',
  });

const importNamed = (filename: string) =>
  db.read.selectFrom('imports').select(['id', 'state']).where('filename', '=', filename).executeTakeFirst();
const importRuns = (filename: string) =>
  eventually(async () => {
    const importRow = (await importNamed(filename)) as NonNullable<Awaited<ReturnType<typeof importNamed>>>;
    expect(importRow?.state).toBe('running');
    return importRow;
  });

describe('assay import as a process', () => {
  it('cancels the import on Ctrl-C and reports what was imported', async () => {
    const name = 'cancelled.xml';
    const report = write(name, HELD_REPORT);
    gate.hold();
    const running = startProcess(process.execPath, [main, 'import', report, '--assessment', 'web']);
    const { id } = await importRuns(name);
    const applied = db.read.selectFrom('port_events').select('id').where('import_id', '=', id).limit(1);
    await eventually(async () => expect(await applied.execute()).toHaveLength(1));
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain(
      `${name}: the import was cancelled. Part of the report was imported. To undo it, run "assay import undo ${id}".`,
    );
    expect(running.output()).toMatch(/ nmap +cancelled /);
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
    const name = `left-${uid}.xml`;
    const report = write(name, HELD_REPORT);
    gate.hold();
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
  writeFileSync(join(watched, 'a-bad.txt'), 'hello');
  symlinkSync('/nowhere/at/all', join(watched, 'b-dangling.json'));
  const running = assay.start(['import', watched, '--watch', '--assessment', 'web', '--json'], {
    env: { ASSAY_SERVER: origin, ASSAY_TOKEN: token, ASSAY_WATCH_INTERVAL: '100' },
  });
  await outputMatches(running, /a-bad\.txt: it has an unrecognised format/);

  for (const name of ['one', 'two']) {
    writeFileSync(join(watched, '.moved'), nucleiReport(name));
    renameSync(join(watched, '.moved'), join(watched, `${name}.jsonl`));
    await outputMatches(running, new RegExp(`"filename":"${name}\\.jsonl"`));
  }
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
