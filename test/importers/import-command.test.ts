import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCommandLine } from '../cli/command-line.ts';
import { engine } from '../harness/server.ts';
import { FIRST, host, port, report } from './reports.ts';

let folder: string;
const assay = await startCommandLine();
beforeAll(async () => {
  folder = assay.database.dataDirectory;
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
});
afterAll(() => assay.close());

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const importing = (...args: string[]) => assay.run(['import', 'nmap', ...args]);

/** One query returns 1,000. */
const HOSTS = 1_010;

describe('assay import nmap', () => {
  it('lists more hosts than one query returns', async () => {
    let hosts = '';
    for (let number = 0; number < HOSTS; number += 1)
      hosts += host(`10.1.${number >> 8}.${number & 255}`, port(22));
    const path = file('many.xml', report(hosts));
    const { assets, ...summary } = await assay.json('import', 'nmap', path, '--organization', 'acme');
    expect(summary).toMatchObject({ hosts: { created: HOSTS }, ports: { open: HOSTS } });
    expect(new Set(assets.map(({ uid }: { uid: string }) => uid)).size).toBe(HOSTS);
    expect(assets[HOSTS - 1]).toMatchObject({ address: '10.1.3.241', openPorts: 1 });
  });
});

// Without SQL of its own: run-import.test.ts imports on both engines.
describe.runIf(engine() === 'sqlite')('assay import nmap', () => {
  it('prints a summary and the hosts, as lines and as JSON', async () => {
    const path = file('first.xml', FIRST);
    const lines = await importing(path, '--organization', 'acme');
    expect(lines).toMatchObject({ code: 0, stderr: '' });
    expect(lines.stdout).toMatch(/^hosts created +1$/m);
    expect(lines.stdout).toMatch(/^ports open +5$/m);
    expect(lines.stdout).toMatch(/^read +\d+\.\d MB in \d+\.\d s$/m);
    expect(lines.stdout).toMatch(/^ADDRESS +UID +OPEN PORTS\n127\.0\.0\.1 +[0-9a-f]{24} +5\n$/m);
    expect(await assay.json('import', 'nmap', path, '--organization', 'acme')).toEqual({
      organization: 'acme',
      assets: [{ uid: expect.stringMatching(/^[0-9a-f]{24}$/), address: '127.0.0.1', openPorts: 5 }],
      hosts: { created: 0, updated: 0, unchanged: 1, down: 0 },
      ports: { open: 5, closed: 21 },
      markedClosed: 0,
      bytes: Buffer.byteLength(FIRST),
      seconds: expect.any(Number),
      error: null,
    });
  });

  it('imports and prints the beginning of a truncated report', async () => {
    const path = file(
      'cut.xml',
      report(host('192.0.2.1', port(22)) + host('192.0.2.2', port(22))).slice(0, -60),
    );
    const { code, stdout, stderr } = await importing(path, '--organization', 'acme', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      hosts: { created: 1 },
      error: expect.stringMatching(/^line 6: The report is truncated/),
    });
    expect(stderr).toMatch(
      /cut\.xml: line 6: .* Part of the report was imported\. To undo it, run "assay import undo \d+"\.\n$/,
    );
  });

  it.each<[string, () => string[], number, RegExp]>([
    [
      'a file that is not a report',
      () => [file('no.xml', '<html></html>'), '--organization', 'acme'],
      1,
      /no\.xml: line 1: .* Nothing was imported/,
    ],
    [
      'a file that is missing',
      () => [join(folder, 'missing.xml'), '--organization', 'acme'],
      1,
      /File .*missing\.xml not found/,
    ],
    [
      'a folder without files',
      () => [mkdtempSync(join(folder, 'empty-')), '--organization', 'acme'],
      1,
      /The folder .* has no files/,
    ],
    [
      'an unknown organization',
      () => [join(folder, 'missing.xml'), '--organization', 'nobody'],
      1,
      /Organization "nobody" not found/,
    ],
    ['no organization', () => ['-'], 2, /--organization/],
  ])('rejects %s', async (_name, args, code, message) => {
    const finished = await importing(...args());
    expect(finished.code).toBe(code);
    expect(finished.stderr).toMatch(/^assay: /);
    expect(finished.stderr).toMatch(message);
  });

  it('reads standard input', async () => {
    const input = report(host('192.0.2.77', port(22)));
    const finished = await assay.run(['import', 'nmap', '-', '--organization', 'acme', '--json'], { input });
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(finished.stdout)).toMatchObject({ hosts: { created: 1 }, bytes: input.length });
  });
});
