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

async function runWizard(answers: string, rows = ROWS, signal?: AbortSignal) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  if (signal === undefined) input.end(answers);
  const prompt = promptMapping({ input, output }, rows, signal);
  const mapping = await prompt.catch((error: Error) => error.message);
  return { mapping, printed: String(output.read()) };
}

describe('Prompts for the columns of a CSV report', () => {
  it('accept the suggestion, a number, a name or nothing, and print the equivalent options', async () => {
    const { mapping, printed } = await runWizard('2\n\n-\n\n\n\n\nwo\n\n');
    expect(mapping).toEqual({ title: 'Was', severity: 'Risk', url: 'Wo' });
    expect(printed).toMatch(/^1 {2}Wo {6}https:\/\/a\.example\/$/m);
    expect(printed).toContain('SQL [31minjection');
    expect(printed).toContain('title (required) [-]: ');
    expect(printed).toContain('severity (required) [Risk]: ');
    expect(printed).toContain('recommended fix [-]: ');
    expect(printed).toContain('To skip these questions: --map title=Was --map severity=Risk --map url=Wo\n');
  });

  it('repeat for an unknown column and a missing required one', async () => {
    const { mapping, printed } = await runWizard('\nnone\n2\n-\n3\n1\n\n');
    expect(mapping).toEqual({ title: 'Was', severity: 'Risk', description: 'Wo' });
    expect(printed).toContain('A column for title is required.');
    expect(printed).toContain('Column "none" not found.');
    expect(printed).toContain('A column for severity is required.');
  });

  it('require no severity with a score, and suggest no column twice', async () => {
    const rows = [
      ['CVSS', 'Text'],
      ['9.8', 'Old library'],
    ];
    const { mapping, printed } = await runWizard('2\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n', rows);
    expect(mapping).toEqual({ title: 'Text', cvss_score: 'CVSS' });
    expect(printed).toContain(' severity [-]: ');
    const result = await runWizard('CVSS\n2\n\n', rows);
    expect(result.mapping).toEqual({ title: 'CVSS', severity: 'Text' });
  });

  it('save the mapping to a file, but overwrite none', async () => {
    const folder = temporaryFolder();
    const [existingFile, mappingFile] = [join(folder, 'there.json'), join(folder, 'columns.json')];
    writeFileSync(existingFile, 'mine');
    const { mapping, printed } = await runWizard(
      `2\n\n1\n${existingFile}\n${join(folder, 'none/x.json')}\n${mappingFile}\n`,
    );
    expect(printed).toContain(`${existingFile} already exists.`);
    expect(printed).toContain('none/x.json (ENOENT).');
    expect(printed).toContain(`Saved. To use it: --mapping ${mappingFile}`);
    expect(JSON.parse(readFileSync(mappingFile, 'utf8'))).toEqual(mapping);
    expect(readFileSync(existingFile, 'utf8')).toBe('mine');
  });

  it('fail if interrupted', async () => {
    const incompleteMessage = 'The column mapping is incomplete. Nothing was imported.';
    expect((await runWizard('2\n')).mapping).toBe(incompleteMessage);
    expect((await runWizard('', ROWS, AbortSignal.timeout(5))).mapping).toBe(incompleteMessage);
  });
});
