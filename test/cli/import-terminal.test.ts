import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../harness/temporary.ts';
import { type CommandLine, startCommandLine } from './command-line.ts';

const main = join(inject('release'), 'dist/main.js');
/** `script` of util-linux gives a command a terminal; that of other systems takes other words. */
const HAS_TERMINAL = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');
const CTRL_C = '\u0003';

let assay: CommandLine;
let folder: string;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  assay = await startCommandLine();
  folder = temporaryFolder();
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('assessment', 'create', 'web', '--organization', 'acme', '--name', 'web');
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await assay.close();
});

const env = () => ({ PATH: process.env['PATH'], ASSAY_DATA: assay.database.dataDirectory });

/** A command in a process of its own, whose output can be waited for. */
function watchProcess(command: string, args: readonly string[]) {
  const child = spawn(command, args, { cwd: folder, env: env() });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return {
    child,
    ended,
    output: () => output,
    async says(text: string | RegExp) {
      await vi.waitFor(() => expect(output).toMatch(text), { timeout: 20_000, interval: 10 });
    },
  };
}

/** A command on a terminal of 80 columns. */
function onTerminal(...args: string[]) {
  const line = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ');
  return watchProcess('script', ['-qec', `stty cols 80; exec ${line}`, '/dev/null']);
}

const CSV = 'Wo;Was;Wie schlimm\nhttps://shop.example/;SQL injection;High\nhttps://shop.example/;XSS;Low\n';
const put = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('A CSV report whose columns have no usual names', () => {
  it.runIf(HAS_TERMINAL)('is asked about on a terminal, and its answers are kept in a file', async () => {
    const report = put('asked.csv', CSV);
    const terminal = onTerminal('import', report, '--assessment', 'web', '--json');
    await terminal.says(/title \(needed\) \[-\]: /);
    terminal.child.stdin.write('was\n3\n');
    await terminal.says(/description \[-\]: /);
    terminal.child.stdin.write(`${'\n'.repeat(5)}1\n`);
    await terminal.says(/Keep it for --mapping, in which file\? \[none\]: /);
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

  it.runIf(HAS_TERMINAL)('is left alone when the questions are interrupted', async () => {
    const terminal = onTerminal('import', put('left.csv', CSV), '--assessment', 'web');
    await terminal.says(/title \(needed\) \[-\]: /);
    terminal.child.stdin.write(CTRL_C);
    expect(await terminal.ended).toBe(1);
    expect(terminal.output()).toContain('The questions were not answered to their end');
  });

  it('is refused where nobody can be asked, with what to say', async () => {
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
        "columns (Wo, Was, 'Wie schlimm') have no names that are known: say which is which with --map title=COLUMN --map severity=COLUMN, or with --mapping FILE.",
      );
    }
  });

  it('needs no format beside its columns', async () => {
    const map = ['--map', 'title=Was', '--map', 'severity=Wie schlimm', '--map', 'url=Wo'];
    const report = put('mapped.csv', CSV.replace('XSS', 'Redirect'));
    const imported = await assay.json('import', report, '--assessment', 'web', ...map);
    expect(imported).toMatchObject({
      format: 'csv',
      result: { findings_created: 1, findings_seen_again: 1 },
    });
  });
});
