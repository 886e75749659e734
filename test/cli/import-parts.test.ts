import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { splitFormatAndFiles } from '../../src/cli/import/command.ts';
import { findReports, watchFolders } from '../../src/cli/import/report-files.ts';
import type { RemoteImport } from '../../src/cli/import/api.ts';
import { JsonResultWriter, ResultTable } from '../../src/cli/import/results.ts';
import { createProgressDisplay } from '../../src/cli/import/progress.ts';
import { withStreams } from '../../src/cli/streams.ts';
import { temporaryFolder } from '../harness/temporary.ts';

function job(changes: Partial<RemoteImport> = {}): RemoteImport {
  const counts = { assets_created: 2, assets_updated: 0, ports_opened: 0, ports_closed: 0 };
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

/** What is printed in the meantime. */
async function printed(work: () => void): Promise<string> {
  const stdout = new PassThrough();
  await withStreams({ stdin: new PassThrough(), stdout, stderr: new PassThrough() }, async () => work());
  return String(stdout.read() ?? '');
}

describe('The words after import', () => {
  it.each([
    [['nmap', 'a.xml'], 'nmap', ['a.xml']],
    [['a.xml', 'nmap'], undefined, ['a.xml', 'nmap']],
    [['./nmap'], undefined, ['./nmap']],
    [['zap', 'zap', '-'], 'zap', ['zap', '-']],
    [['-'], undefined, ['-']],
  ])('%j are the format %s and files', (words, format, files) => {
    expect(splitFormatAndFiles(words, ['nmap', 'zap'])).toEqual({ format, files });
  });

  it('need a file behind a format', () => {
    expect(() => splitFormatAndFiles(['zap'], ['nmap', 'zap'])).toThrow(
      'No file given. Use "assay import zap FILE", or ./zap for a file with this name.',
    );
  });
});

describe('The files of an import', () => {
  it('are those that are named, and of a folder what lies in it, by name', async () => {
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

  it('are waited for in a folder, until each rests, and given again when one has changed', async () => {
    const folder = temporaryFolder();
    const put = (name: string, text: string, age: number) => {
      writeFileSync(join(folder, name), text);
      const time = new Date(Date.now() - age);
      utimesSync(join(folder, name), time, time);
    };
    put('old.xml', 'x', 60_000);
    const ended = new AbortController();
    const seen: string[] = [];
    for await (const { name } of watchFolders([folder], ended.signal, { every: 5, rest: 100 })) {
      seen.push(name);
      // What was written just now, or has a time ahead of ours, has to rest before it is given.
      if (seen.length === 1) put('new.xml', 'half', -3_600_000);
      if (seen.length === 2) put('new.xml', 'whole', 50_000);
      if (seen.length === 3) {
        rmSync(join(folder, 'old.xml'));
        put('last.xml', 'x', 50_000);
      }
      if (seen.length === 4) ended.abort();
    }
    expect(seen).toEqual(['old.xml', 'new.xml', 'new.xml', 'last.xml']);
  });
});

describe('What became of a report', () => {
  it('is a row for people, with what was left out below it', async () => {
    const lines = await printed(() => {
      const table = new ResultTable();
      table.add({ file: 'zap.xml', job: job() });
      table.add({ file: 'a-longer-name.json', error: 'No format has it.' });
    });
    expect(lines.split('\n')).toEqual([
      'IMPORT  FORMAT     STATE      NEW  AGAIN  REOPENED  GONE  SKIPPED  FILE',
      '12      zap        succeeded  3    1      0         1     2        zap.xml',
      '  assets new: 2',
      '  skipped 2: false positive (first at line 12)',
      '-       -          refused    -    -      -         -     -        a-longer-name.json',
      '',
    ]);
  });

  it('is for a dry run what it would be, with the first of each', async () => {
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

  it('is JSON for programs, a line a report', async () => {
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

describe('On a terminal, an import', () => {
  const stream = (isTTY: boolean) => {
    let written = '';
    const terminal = Object.assign(new PassThrough(), { isTTY, columns: 200, cursorTo: () => true });
    const write = (text: string | Uint8Array) => {
      written += String(text);
      return true;
    };
    return Object.assign(terminal, { write, clearLine: () => true, written: () => written });
  };

  it('is shown as it goes', () => {
    const terminal = stream(true);
    const progress = createProgressDisplay(terminal, 'zap\u001b.xml');
    progress.update(job({ state: 'queued' }));
    progress.stop();
    expect(terminal.written()).toContain('uploading zap.xml');
    expect(terminal.written()).toContain('queued');
  });

  it('is not shown where there is none', () => {
    const file = stream(false);
    const progress = createProgressDisplay(file, 'zap.xml');
    progress.update(job());
    progress.stop();
    expect(file.written()).toBe('');
  });
});
