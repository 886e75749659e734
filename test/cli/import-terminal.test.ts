import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Database } from '../../src/db/engine.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { type CommandLine, startCommandLine } from './command-line.ts';

const main = join(inject('product'), 'dist/main.js');
/** `script` of util-linux gives a command a terminal; that of other systems takes other words. */
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

/** A command in a process of its own, whose output can be waited for. */
function watchProcess(command: string, args: readonly string[]) {
  const child = spawn(command, args, { cwd: folder, env: env() });
  processes.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return {
    child,
    ended,
    output: () => output,
    /** Resolves when so much was read that it waits for more. */
    async reads(text: string) {
      const piece = 256 * 1024;
      // A pipe takes less than that by itself.
      await new Promise<void>((resolve, reject) =>
        child.stdin.write(text + ' '.repeat(piece), (error) => (error == null ? resolve() : reject(error))),
      );
    },
    async says(text: string | RegExp) {
      await vi.waitFor(() => expect(output).toMatch(text), { timeout: 60_000, interval: 10 });
    },
  };
}

const assayProcess = (...args: string[]) => watchProcess(process.execPath, [main, ...args]);

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
    await terminal.says(/title \(required\) \[-\]: /);
    terminal.child.stdin.write('was\n3\n');
    await terminal.says(/description \[-\]: /);
    terminal.child.stdin.write(`${'\n'.repeat(5)}1\n`);
    await terminal.says(/Save the mapping to a file for --mapping \[none\]: /);
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
    await terminal.says(/title \(required\) \[-\]: /);
    terminal.child.stdin.write(CTRL_C);
    expect(await terminal.ended).toBe(1);
    expect(terminal.output()).toContain('The column mapping is incomplete');
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
        "columns (Wo, Was, 'Wie schlimm') are not recognised. Map them with --map title=COLUMN --map severity=COLUMN, or with --mapping FILE.",
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

/** So many findings that a signal comes in between. */
const LARGE = 5_000;

/** A report that takes a while: so many findings, each of a rule of its own. */
const large = (rules: number) =>
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

interface Where {
  /** What names it on the command line. */
  place: string[];
  /** Whether a server does the work. */
  isServer: boolean;
}

const PLACES = ['the data folder', 'a server'] as const;

async function placeAt(place: (typeof PLACES)[number]): Promise<Where> {
  if (place === 'the data folder') return { place: [], isServer: false };
  const server = await assay.serveHere();
  const email = `jo-${Math.random().toString(36).slice(2)}@acme.example`;
  await assay.json('user', 'create', '--email', email, '--organization', 'acme', '--admin');
  const { token } = await assay.json('token', 'create', '--user', email);
  return {
    place: ['--server', server.origin, '--token', token],
    isServer: true,
  };
}

describe.each(PLACES)('assay import as a process, on %s', { timeout: 120_000 }, (kind) => {
  let where: Where;
  let uid: string;
  let count = 0;
  beforeAll(async () => {
    where = await placeAt(kind);
  });
  // One import runs at a time on an assessment.
  beforeEach(async () => {
    uid = `web-${where.isServer ? 'server' : 'folder'}-${(count += 1)}`;
    await assay.json('assessment', 'create', uid, '--organization', 'acme', '--name', uid);
  });

  const jobNamed = (filename: string) =>
    db.read.selectFrom('imports').select(['id', 'state']).where('filename', '=', filename).executeTakeFirst();
  const begun = (filename: string) =>
    vi.waitFor(
      async () => {
        const job = await jobNamed(filename);
        expect(job?.state).toBe('running');
        return job as NonNullable<typeof job>;
      },
      { timeout: 60_000, interval: 20 },
    );

  it('ends an import with the first Ctrl-C, and says what is kept', async () => {
    const name = `cancelled-${where.isServer}.jsonl`;
    const running = assayProcess('import', put(name, large(LARGE)), '--assessment', uid, ...where.place);
    const { id } = await begun(name);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(1);
    expect(running.output()).toMatch(
      new RegExp(
        `${name}: the import was cancelled\\. (Nothing was imported\\.|Part of the report was imported\\. To undo it, run "assay import undo ${id}"\\.)`,
      ),
    );
    expect(running.output()).toMatch(/ nuclei +cancelled /);
    expect(await jobNamed(name)).toMatchObject({ state: 'cancelled' });
  });

  it('waits no longer after a second, and tells how to follow', async () => {
    const name = `left-${where.isServer}.jsonl`;
    const running = assayProcess('import', put(name, large(LARGE)), '--assessment', uid, ...where.place);
    const { id } = await begun(name);
    running.child.kill('SIGINT');
    const again = setInterval(() => running.child.kill('SIGINT'), 1);
    const code = await running.ended;
    clearInterval(again);
    // A third ends the process wherever it is.
    expect([1, null]).toContain(code);
    if (code === 1)
      expect(running.output()).toMatch(
        new RegExp(
          `Stopped waiting for import ${id}, which (is being cancelled|continues)\\. Run "assay import follow ${id}"`,
        ),
      );
    // A process that was ended where it was has its import for a minute, which is over.
    if (!where.isServer)
      await db.write((tx) =>
        tx.updateTable('jobs').set({ run_at: 0 }).where('kind', '=', 'import').execute(),
      );
    const followed = await assay.run(['import', 'follow', String(id)]);
    expect(followed.stdout).toMatch(/ (cancelled|succeeded) /);
  });

  it('leaves standard input that does not end', async () => {
    const running = assayProcess('import', '-', '--assessment', uid, ...where.place);
    // Until it listens, Ctrl-C ends the process as it does any other.
    await running.reads('{"template-id":');
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain('The upload of standard input was cancelled. Nothing was imported.');
  });

  it('watches a folder: what is whole, and what comes after one that fails', async () => {
    const watched = mkdtempSync(join(folder, 'watched-'));
    const report = (rule: string) => large(1).replaceAll('rule-0', rule);
    writeFileSync(join(watched, 'a-bad.txt'), 'hello');
    symlinkSync('/nowhere/at/all', join(watched, 'b-dangling.json'));
    const running = assayProcess('import', watched, '--watch', '--assessment', uid, '--json', ...where.place);
    await running.says(/a-bad\.txt: it has an unrecognised format/);

    const growing = join(watched, 'growing.jsonl');
    const [first, second] = [report('one'), report('two')] as const;
    writeFileSync(growing, first.slice(0, 100));
    const writing = setInterval(() => utimesSync(growing, new Date(), new Date()), 200);
    writeFileSync(join(watched, 'moved.tmp'), second);
    renameSync(join(watched, 'moved.tmp'), join(watched, 'moved.jsonl'));
    await running.says(/"filename":"moved\.jsonl"/);
    // It came first and was not whole yet.
    expect(running.output()).not.toContain('growing.jsonl');
    clearInterval(writing);
    writeFileSync(growing, first);
    await running.says(/"filename":"growing\.jsonl"/);
    const lines = running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{"id"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { state: 'succeeded', result: { findings_created: 1 } },
      { state: 'succeeded', result: { findings_created: 1 } },
    ]);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(1);
    expect(running.output()).toMatch(/1 of the reports was not imported completely\.\n$/);
  });
});
