import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../harness/temporary.ts';
import { startCommandLine } from './command-line.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const ZAP = join(FIXTURES, 'zap/report-2.9.xml');

let folder: string;
const assay = await startCommandLine();
beforeAll(async () => {
  folder = temporaryFolder();
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
});
afterAll(() => assay.close());

let count = 0;
async function createAssessment(): Promise<string> {
  const uid = `web-${(count += 1)}`;
  await assay.json('assessment', 'create', uid, '--organization', 'acme', '--name', uid);
  return uid;
}

/** Returns a report of one site with one finding per rule. */
function nucleiReport(rules: readonly string[], at: string): string {
  return rules
    .map((rule) =>
      JSON.stringify({
        'template-id': rule,
        info: { name: `Found ${rule}`, severity: 'high' },
        type: 'http',
        host: 'https://shop.example',
        'matched-at': 'https://shop.example/basket',
        timestamp: at,
      }),
    )
    .join('\n');
}

function writeReport(name: string, content: string | Uint8Array): string {
  const path = join(mkdtempSync(join(folder, 'in-')), name);
  writeFileSync(path, content);
  return path;
}

describe('assay import with the data folder', () => {
  it('imports several reports and continues after an invalid one; subcommands show them', async () => {
    const uid = await createAssessment();
    const bad = writeReport('bad.txt', 'hello');
    const compressed = writeReport('packed.bin', gzipSync(nucleiReport(['a', 'b'], '2026-11-01T10:00:00Z')));
    const { code, stdout, stderr } = await assay.run(['import', ZAP, bad, compressed, '--assessment', uid]);
    expect(code).toBe(1);
    expect(stderr).toContain('bad.txt: it has an unrecognised format');
    expect(stderr).toMatch(/^assay: 1 of 3 reports was not imported completely\.$/m);
    const rows = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(rows[0]).toEqual([
      'IMPORT',
      'FORMAT',
      'STATE',
      'NEW',
      'AGAIN',
      'REOPENED',
      'GONE',
      'SKIPPED',
      'FILE',
    ]);
    expect(rows[1]?.slice(1)).toEqual(['zap', 'succeeded', '2', '0', '0', '0', '1', ZAP]);
    expect(stdout).toMatch(/^ {2}skipped or incomplete:\n {4}1: false positive \(line \d+\)$/m);
    const nucleiRow = rows.find((row) => row[8] === compressed) ?? [];
    expect(nucleiRow.slice(1, 7)).toEqual(['nuclei', 'succeeded', '2', '0', '0', '0']);

    const [[zapId = ''] = [], [nucleiId = '']] = [rows[1], nucleiRow];
    const listed = await assay.json('import', 'list', '--assessment-id', uid);
    expect(listed).toMatchObject([
      { id: Number(nucleiId), state: 'succeeded' },
      { id: Number(zapId), state: 'succeeded' },
    ]);
    const list = await assay.run(['import', 'list', '--limit', '1']);
    expect(list.stdout).toMatch(/^ID +STATE +FORMAT +FILE /);
    expect(list.stdout).toMatch(/ 2 findings created\n$/);
    expect(await assay.json('import', 'get', zapId)).toMatchObject({ id: Number(zapId), format: 'zap' });
    expect((await assay.run(['import', 'follow', zapId])).stdout).toMatch(
      new RegExp(`^${zapId} .* report-2\\.9\\.xml$`, 'm'),
    );
    expect(await assay.run(['import', 'cancel', zapId])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^assay: The import has already ended/),
    });
  });

  it('previews new, known and gone findings with --dry-run, then imports them', async () => {
    const uid = await createAssessment();
    const options = ['--assessment', uid, '--target', 'https://shop.example', '--when-gone', 'fix'];
    const first = writeReport('first.jsonl', nucleiReport(['a', 'b', 'c'], '2026-10-01T10:00:00Z'));
    expect(await assay.json('import', first, ...options, '--tag', 'nightly')).toMatchObject({
      state: 'succeeded',
      format: 'nuclei',
      options: { when_gone: 'fix', tags: ['nightly'] },
      result: { findings_created: 3, findings_gone: 0 },
    });
    const second = writeReport('second.jsonl', nucleiReport(['b', 'c', 'd'], '2026-10-08T10:00:00Z'));
    const dry = await assay.run(['import', 'nuclei', second, ...options, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('Dry run: nothing was changed. Preview:\nnew: 1\n');
    expect(dry.stdout).toMatch(/^again: 2$/m);
    expect(dry.stdout).toMatch(/^gone: 1\n {2}Found a {2}https:\/\/shop\.example\/$/m);
    expect(await assay.json('import', second, ...options)).toMatchObject({
      result: { findings_created: 1, findings_seen_again: 2, findings_gone: 1 },
    });
    const listed = await assay.json('vulnerability', 'list', '--assessment-id', uid);
    expect(listed.map(({ title, status }: { title: string; status: string }) => [title, status])).toEqual(
      expect.arrayContaining([
        ['Found a', 'Fixed'],
        ['Found d', 'Pending Review'],
      ]),
    );
    const states = async (...flags: string[]) =>
      (await assay.run(['import', 'list', '--assessment-id', uid, ...flags])).stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/ {2,}/)[1]);
    expect(await states()).toEqual(['STATE', 'succeeded', 'succeeded']);
    expect(await states('--dry-runs')).toEqual(['STATE', 'succeeded', 'succeeded (dry run)', 'succeeded']);
    expect(await states('--dry-run')).toEqual(['STATE', 'succeeded (dry run)']);
    const help = (await assay.run(['import', 'list', '--help'])).stdout;
    expect(help.match(/--[a-z-]*dry-run[a-z]*/g)).toEqual(['--dry-runs']);
  });

  it('reads the files of a folder and standard input', async () => {
    const uid = await createAssessment();
    const reports = mkdtempSync(join(folder, 'reports-'));
    mkdirSync(join(reports, 'below'));
    copyFileSync(ZAP, join(reports, 'b.xml'));
    writeFileSync(join(reports, 'a.jsonl'), nucleiReport(['a'], '2026-10-01T10:00:00Z'));
    const { code, stdout, stderr } = await assay.run(
      ['import', reports, '-', '--assessment', uid, '--json'],
      {
        input: readFileSync(ZAP, 'utf8'),
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const imports = stdout.trimEnd().split('\n');
    expect(imports.map((line) => JSON.parse(line))).toMatchObject([
      { file: { filename: 'a.jsonl' }, result: { findings_created: 1 } },
      { file: { filename: 'b.xml' }, result: { findings_created: 2 } },
      { file: { filename: 'standard-input' }, result: { findings_created: 0 } },
    ]);
  });

  it('imports the beginning of a truncated report, and fails', async () => {
    const uid = await createAssessment();
    const text = readFileSync(ZAP, 'utf8');
    const cut = writeReport('cut.xml', text.slice(0, text.length - 40));
    const { code, stdout, stderr } = await assay.run(['import', cut, '--assessment', uid, '--json']);
    const { id, state, error } = JSON.parse(stdout);
    expect([code, state]).toEqual([1, 'failed']);
    expect(stderr).toContain(`line ${error.line}: `);
    expect(stderr).toContain(`To undo it, run "assay import undo ${id}".`);
  });

  it.each<[string[], number, string]>([
    [['nmap'], 2, 'No file given. Use "assay import nmap FILE", or ./nmap for a file with this name.'],
    [['missing.xml', '--assessment', 'web-1'], 1, 'File missing.xml not found.'],
    [['frob', ZAP, '--assessment', 'web-1'], 2, '"frob" is neither a file nor a format. Formats: nmap,'],
    [[ZAP, '--watch', '--assessment', 'web-1'], 2, '--watch requires folders.'],
    [[ZAP, '--map', 'title'], 2, 'The value must be a field and a column: title=Name.'],
    [[ZAP, '--mapping', ZAP], 2, `${ZAP} is not valid JSON.`],
    [[ZAP, '--minimum-severity', 'huge'], 2, 'Allowed choices are Critical, High'],
    [[ZAP, '--assessment', 'nowhere'], 1, '--assessment "nowhere" is not the uid of an assessment'],
    [[ZAP, '--assessment', 'web-1', '--scanned-at', 'noon'], 1, '--scanned-at must be'],
    [[ZAP], 1, '--assessment is required, or organization_uid for a report of hosts; '],
    [['follow', 'x'], 2, 'ID must be the id of an import, not "x".'],
  ])('fails with %j', async (args, code, message) => {
    const finished = await assay.run(['import', ...args]);
    expect(finished.stderr).toContain(message);
    expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: '' });
  });
});

describe('assay import with a server', () => {
  it('uploads reports and waits for their end', async () => {
    const uid = await createAssessment();
    const server = await assay.serveHere();
    await assay.json('user', 'create', '--email', 'jo@acme.example', '--organization', 'acme', '--admin');
    const { token } = await assay.json('token', 'create', '--user', 'jo@acme.example');
    const env = { ASSAY_SERVER: server.origin, ASSAY_TOKEN: token };
    const { code, stdout, stderr } = await assay.run(['import', ZAP, '--assessment', uid, '--json'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'succeeded',
      created_by: { email: 'jo@acme.example' },
      result: { findings_created: 2 },
    });
    const nmap = join(FIXTURES, 'nmap/loopback-first.xml');
    expect((await assay.run(['import', 'nmap', nmap], { env })).stdout).toMatch(/ nmap +succeeded /);
  });
});
