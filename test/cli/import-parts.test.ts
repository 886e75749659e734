import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { splitFormatAndFiles } from '../../src/cli/import/command.ts';
import { findReports, watchFolders } from '../../src/cli/import/report-files.ts';
import { awaitImportEnd, type RemoteImport } from '../../src/cli/import/api.ts';
import type { AnyClient } from '../../src/cli/command-target.ts';
import { failureMessage } from '../../src/cli/import/import-files.ts';
import { HostTable } from '../../src/cli/import/host-table.ts';
import { JsonResultWriter, ResultTable } from '../../src/cli/import/results.ts';
import { createProgressDisplay } from '../../src/cli/import/progress.ts';
import { withStreams } from '../../src/cli/streams.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { programName } from '../../src/cli/streams.ts';

function job(changes: Partial<RemoteImport> = {}): RemoteImport {
  const counts = {
    assets_created: 2,
    assets_updated: 0,
    assets_outside_scope: 1,
    ports_opened: 0,
    ports_closed: 0,
  };
  const findings = {
    findings_created: 3,
    findings_seen_again: 1,
    findings_reopened: 0,
    findings_gone: 1,
  };
  return {
    id: 12,
    state: 'succeeded',
    format: 'zap',
    file: { filename: 'zap.xml', size: 100 },
    progress: {
      bytes_read: 100,
      bytes_total: 100,
      hosts: 0,
      ports: 0,
      findings: 4,
      skipped: 2,
      seconds_left: null,
    },
    skips: [{ reason: 'false positive', count: 2, line: 12 }],
    result: { ...counts, ...findings },
    preview: null,
    error: null,
    undone: null,
    ...changes,
  };
}

/** Returns the standard output of `work`. */
async function printed(work: () => void): Promise<string> {
  const stdout = new PassThrough();
  await withStreams({ stdin: new PassThrough(), stdout, stderr: new PassThrough() }, async () => work());
  return String(stdout.read() ?? '');
}

describe('splitFormatAndFiles', () => {
  it.each([
    [['nmap', 'a.xml'], 'nmap', ['a.xml']],
    [['a.xml', 'nmap'], undefined, ['a.xml', 'nmap']],
    [['./nmap'], undefined, ['./nmap']],
    [['zap', 'zap', '-'], 'zap', ['zap', '-']],
    [['-'], undefined, ['-']],
  ])('splits %j into the format %s and files', (words, format, files) => {
    expect(splitFormatAndFiles(words, ['nmap', 'zap'])).toEqual({ format, files });
  });

  it('requires a file after a format', () => {
    expect(() => splitFormatAndFiles(['zap'], ['nmap', 'zap'])).toThrow(
      `No file given. Use "${programName()} import zap FILE", or ./zap for a file with this name.`,
    );
  });
});

describe('Reports to import', () => {
  it('are the given files, and the files of a folder by name', async () => {
    const folder = temporaryFolder();
    for (const name of ['b.xml', 'a.xml', '.hidden']) writeFileSync(join(folder, name), 'x');
    mkdirSync(join(folder, 'below'));
    const reports = await findReports([join(folder, 'b.xml'), '-', folder]);
    expect(reports.map(({ path, name }) => [path, name])).toEqual([
      [join(folder, 'b.xml'), 'b.xml'],
      ['-', 'standard-input'],
      [join(folder, 'a.xml'), 'a.xml'],
      [join(folder, 'b.xml'), 'b.xml'],
    ]);
    await expect(findReports([join(folder, 'below')])).rejects.toThrow(/^The folder .*below has no files\.$/);
    await expect(findReports([join(folder, 'none')])).rejects.toThrow(/^File .*none not found\.$/);
    await expect(findReports(['-', '-'])).rejects.toThrow('Standard input ("-") can be given only once.');
  });

  it('in a watched folder are yielded once unchanged for two intervals, and again after a change', async () => {
    const folder = temporaryFolder();
    const write = (name: string, text: string, age: number) => {
      writeFileSync(join(folder, name), text);
      const time = new Date(Date.now() - age);
      utimesSync(join(folder, name), time, time);
    };
    write('old.xml', 'x', 60_000);
    const ended = new AbortController();
    const requests: string[] = [];
    for await (const { name } of watchFolders([folder], ended.signal, 20)) {
      requests.push(name);
      // Yielded after two intervals, also if its modification time is in the future.
      if (requests.length === 1) write('new.xml', 'half', -3_600_000);
      if (requests.length === 2) write('new.xml', 'whole', 50_000);
      if (requests.length === 3) {
        rmSync(join(folder, 'old.xml'));
        write('last.xml', 'x', 50_000);
      }
      if (requests.length === 4) ended.abort();
    }
    expect(requests).toEqual(['old.xml', 'new.xml', 'new.xml', 'last.xml']);
  });

  it('in a watched folder are not yielded while they grow', async () => {
    const folder = temporaryFolder();
    const [growing, complete] = [join(folder, 'a-growing.xml'), join(folder, 'b-complete.xml')];
    for (const file of [growing, complete]) writeFileSync(file, 'x');
    const interval = 20;
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = new AbortController();
    const requests: string[] = [];
    // Called in each round, so that the file has grown since the last round on any machine.
    Object.defineProperty(ended.signal, 'aborted', {
      get() {
        if (requests.length === 0) appendFileSync(growing, 'x');
        vi.setSystemTime(Date.now() + interval);
        return requests.length === 2;
      },
    });
    for await (const { name } of watchFolders([folder], ended.signal, interval)) requests.push(name);
    expect(requests).toEqual(['b-complete.xml', 'a-growing.xml']);
  });
});

describe('The result of an import', () => {
  it('is a table row, followed by what was skipped or is incomplete', async () => {
    const lines = await printed(() => {
      const table = new ResultTable();
      table.add({ file: 'zap.xml', job: job() });
      table.add({ file: 'a-longer-name.json', error: 'No format has it.' });
    });
    expect(lines.split('\n')).toEqual([
      'IMPORT  FORMAT     STATE      NEW  AGAIN  REOPENED  GONE  SKIPPED  FILE',
      '12      zap        succeeded  3    1      0         1     2        zap.xml',
      '  assets new: 2, assets outside the scope: 1',
      '  skipped or incomplete:',
      '    2: false positive (first at line 12)',
      '-       -          refused    -    -      -         -     -        a-longer-name.json',
      '',
    ]);
  });

  it('of a dry run is a preview with examples', async () => {
    const preview = {
      new: [{ title: 'SQL\u001b[31m injection', asset: 'https://a.example/' }],
      again: [{ title: 'Old' }],
      reopened: [],
      gone: [{ title: 'Gone', asset: '192.0.2.1' }],
    };
    const lines = await printed(() =>
      new ResultTable().add({ file: 'zap.xml', job: job({ skips: [], preview }) }),
    );
    expect(lines.split('\n').slice(3)).toEqual([
      'Dry run: nothing was changed. Preview:',
      'new: 3',
      '  SQL [31m injection  https://a.example/',
      '  and 2 more',
      'again: 1',
      '  Old',
      'reopened: 0',
      'gone: 1',
      '  Gone  192.0.2.1',
      '',
    ]);
  });

  it.each<[string, Partial<RemoteImport>, string | undefined]>([
    ['succeeded', {}, undefined],
    [
      'failed before it changed anything',
      { state: 'failed', result: null, error: { message: 'No line of the report is valid JSON', line: 1 } },
      'a.jsonl: line 1: No line of the report is valid JSON. Nothing was imported.',
    ],
    [
      'failed at the end of a truncated report',
      { state: 'failed', error: { message: 'The report is truncated.', offset: 99 } },
      `a.jsonl: byte 99: The report is truncated. Part of the report was imported. To undo it, run "${programName()} import undo 12".`,
    ],
    [
      'was cancelled',
      { state: 'cancelled', result: null },
      'a.jsonl: the import was cancelled. Nothing was imported.',
    ],
  ])('has the right error message if it %s', (_title, changes, message) => {
    expect(failureMessage({ file: 'a.jsonl', job: job(changes) })).toBe(message);
  });

  it('is JSON Lines with --json, one line per report', async () => {
    const lines = await printed(() => {
      const output = new JsonResultWriter();
      output.add({ file: 'zap.xml', job: job() });
      output.add({ file: 'b.txt', error: 'No format has it.' });
    });
    const [first = '', second = ''] = lines.split('\n');
    expect(JSON.parse(first)).toEqual(job());
    expect(JSON.parse(second)).toEqual({
      file: { filename: 'b.txt' },
      state: 'refused',
      error: { message: 'No format has it.' },
    });
  });
});

describe('The hosts of an nmap import', () => {
  it('are a table of the first 20, each host once', async () => {
    const hosts = Array.from({ length: 25 }, (_, index) => ({
      uid: `uid-${index}`,
      address: `10.0.0.${index}`,
      openPorts: index,
    }));
    const summary = {
      hosts: { created: 24, updated: 1, unchanged: 0, down: 0 },
      ports: { open: 25 },
      markedClosed: 0,
      bytes: 100,
      seconds: 1,
    };
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    await withStreams({ stdin, stdout, stderr }, async () => {
      const output = new HostTable();
      await output.add(hosts);
      await output.add([{ uid: 'uid-3', address: '10.0.0.3', openPorts: 4 }]);
      await output.end(summary);
    });
    const lines = String(stdout.read()).split('\n');
    expect(lines.filter((line) => line.startsWith('10.0.0.'))).toHaveLength(20);
    expect(lines).toContainEqual(expect.stringMatching(/^10\.0\.0\.3 +uid-3 +4$/));
    expect(lines).toContain('and 5 more (use --json to list all)');
  });
});

describe('Waiting for the end of an import', () => {
  it('stops on the second Ctrl-C and says that the import is being cancelled', async () => {
    const [cancel, stopWaiting] = [new AbortController(), new AbortController()];
    const requests: string[] = [];
    const client = {
      GET: async () => ({ data: job({ state: 'running' }) }),
      POST: async (path: string) => {
        requests.push(path);
        stopWaiting.abort();
      },
    } as unknown as AnyClient;
    cancel.abort();
    const interruption = { cancel: cancel.signal, stopWaiting: stopWaiting.signal };
    await expect(awaitImportEnd(client, 12, { interruption, show: () => undefined })).rejects.toThrow(
      `Stopped waiting for import 12, which is being cancelled. Run "${programName()} import follow 12" to see how it ends.`,
    );
    expect(requests).toEqual(['/v1/imports/{id}/cancel']);
  });
});

describe('The progress display', () => {
  const stream = (isTTY: boolean) => {
    let written = '';
    const terminal = Object.assign(new PassThrough(), { isTTY, columns: 200, cursorTo: () => true });
    const write = (text: string | Uint8Array) => {
      written += String(text);
      return true;
    };
    return Object.assign(terminal, { write, clearLine: () => true, written: () => written });
  };

  it('shows the state on a terminal', () => {
    const terminal = stream(true);
    const progress = createProgressDisplay(terminal, 'zap\u001b.xml');
    progress.update(job({ state: 'queued' }));
    progress.stop();
    expect(terminal.written()).toContain('Uploading zap.xml');
    expect(terminal.written()).toContain('queued');
  });

  it('shows nothing without a terminal', () => {
    const file = stream(false);
    const progress = createProgressDisplay(file, 'zap.xml');
    progress.update(job());
    progress.stop();
    expect(file.written()).toBe('');
  });
});
