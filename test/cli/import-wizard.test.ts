import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { promptMapping } from '../../src/cli/import/mapping-prompt.ts';
import { temporaryFolder } from '../harness/temporary.ts';

const ROWS = [
  ['Wo', 'Was', 'Risk'],
  ['https://a.example/', 'SQL \u001b[31minjection', 'High'],
];

async function ask(answers: string, rows = ROWS, signal?: AbortSignal) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  if (signal === undefined) input.end(answers);
  const asked = promptMapping({ input, output }, rows, signal);
  const mapping = await asked.catch((error: Error) => error.message);
  return { mapping, told: String(output.read()) };
}

describe('The questions for the columns of a CSV report', () => {
  it('take what is guessed, a number, a name or nothing, and say how to do without', async () => {
    const { mapping, told } = await ask('2\n\n-\n\n\n\n\nwo\n\n');
    expect(mapping).toEqual({ title: 'Was', severity: 'Risk', url: 'Wo' });
    expect(told).toMatch(/^1 {2}Wo {6}https:\/\/a\.example\/$/m);
    expect(told).toContain('SQL [31minjection');
    expect(told).toContain('title (required) [-]: ');
    expect(told).toContain('severity (required) [Risk]: ');
    expect(told).toContain('recommended fix [-]: ');
    expect(told).toContain('To skip these questions: --map title=Was --map severity=Risk --map url=Wo\n');
  });

  it('are asked again where there is no such column, or one is needed', async () => {
    const { mapping, told } = await ask('\nnone\n2\n-\n3\n1\n\n');
    expect(mapping).toEqual({ title: 'Was', severity: 'Risk', description: 'Wo' });
    expect(told).toContain('A column for title is required.');
    expect(told).toContain('Column "none" not found.');
    expect(told).toContain('A column for severity is required.');
  });

  it('need no severity where there is a score, and do not guess what is taken', async () => {
    const rows = [
      ['CVSS', 'Text'],
      ['9.8', 'Old library'],
    ];
    const { mapping, told } = await ask('2\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n', rows);
    expect(mapping).toEqual({ title: 'Text', cvss_score: 'CVSS' });
    expect(told).toContain(' severity [-]: ');
    const taken = await ask('CVSS\n2\n\n', rows);
    expect(taken.mapping).toEqual({ title: 'CVSS', severity: 'Text' });
  });

  it('write what was answered into a file, and over none', async () => {
    const folder = temporaryFolder();
    const [there, wanted] = [join(folder, 'there.json'), join(folder, 'columns.json')];
    writeFileSync(there, 'mine');
    const { mapping, told } = await ask(`2\n\n1\n${there}\n${join(folder, 'none/x.json')}\n${wanted}\n`);
    expect(told).toContain(`${there} already exists.`);
    expect(told).toContain('none/x.json (ENOENT).');
    expect(told).toContain(`Saved. To use it: --mapping ${wanted}`);
    expect(JSON.parse(readFileSync(wanted, 'utf8'))).toEqual(mapping);
    expect(readFileSync(there, 'utf8')).toBe('mine');
  });

  it('cannot be left half answered', async () => {
    const half = 'The column mapping is incomplete. Nothing was imported.';
    expect((await ask('2\n')).mapping).toBe(half);
    expect((await ask('', ROWS, AbortSignal.timeout(5))).mapping).toBe(half);
  });
});
