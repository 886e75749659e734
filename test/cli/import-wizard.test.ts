import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askMapping } from '../../src/cli/import-wizard.ts';

describe('The questions for the columns of a CSV report', () => {
  const rows = [
    ['Name', 'Risk', 'Where'],
    ['SQL injection', 'High', 'https://a.example/'],
  ];
  const members = [
    { name: 'title', required: true, alsoCalled: ['name'] },
    { name: 'severity', alsoCalled: ['risk'] },
    { name: 'url' },
    { name: 'description' },
  ];
  const ask = async (answers: string) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(answers);
    const mapping = await askMapping({ input, output }, rows, members).catch((error: Error) => error.message);
    return { mapping, told: String(output.read()) };
  };

  it('take what is guessed, a number, a name or nothing, and say how to do without', async () => {
    const { mapping, told } = await ask('\n2\nwhere\n-\n');
    expect(mapping).toEqual({ title: 'Name', severity: 'Risk', url: 'Where' });
    expect(told).toContain('1  Name    SQL injection');
    expect(told).toContain('title, which is needed [Name]: ');
    expect(told).toContain('url [-]: ');
    expect(told).toContain('--map title=Name --map severity=Risk --map url=Where');
  });

  it('are asked again where there is no such column, or one is needed', async () => {
    const { mapping, told } = await ask('-\nnone\n1\n\n\n\n');
    expect(mapping).toEqual({ title: 'Name', severity: 'Risk' });
    expect(told).toContain('There is no column none.');
  });

  it('cannot be left half answered', async () => {
    expect((await ask('1\n')).mapping).toBe('The questions were not answered to their end.');
  });
});
