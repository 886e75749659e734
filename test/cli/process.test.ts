import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type CommandLine, startCommandLine } from './command-line.ts';

/** What only a process of its own has; `serve.test.ts` has the signals. Everything else is tried in the process of the test. */
let assay: CommandLine;
beforeAll(async () => {
  assay = await startCommandLine();
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('user', 'create', '--email', 'ada@example.com', '--organization', 'acme');
});
afterAll(() => assay.close());

const installed = join(inject('product'), 'bin/assay.js');
const environment = () => ({ PATH: process.env['PATH'], ASSAY_DATA: assay.database.dataDirectory });
const endOf = async (child: ChildProcess) => (await once(child, 'close')) as [number | null, string | null];

describe('assay as a process', () => {
  it.each([
    [0, ['organization', 'list'], /acme/, /^$/],
    [1, ['user', 'ban', 'nobody@example.com'], /^$/, /^assay: .*\n$/],
    [2, ['user', 'frobnicate'], /^$/, /^assay: unknown command/],
  ])('ends with %i', async (code, args, stdout, stderr) => {
    expect(await assay.process(args)).toEqual({
      code,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });

  it('reads its environment and its flags, and not those of another', async () => {
    const nowhere = { env: { ASSAY_DATA: '/dev/null/none' } };
    expect((await assay.process(['organization', 'list'], nowhere)).code).toBe(1);
    const flags = ['organization', 'list', '--json', '--data', assay.database.dataDirectory];
    const { code, stdout } = await assay.process(flags, nowhere);
    expect({ code, stdout: JSON.parse(stdout) }).toEqual({
      code: 0,
      stdout: await assay.json('organization', 'list'),
    });
  });

  it('reads what is piped into it', async () => {
    const { token, id } = await assay.json('token', 'create', '--user', 'ada@example.com');
    const input = { input: `${token}\n` };
    const { code, stdout } = await assay.process(['token', 'revoke', '-', '--json'], input);
    expect({ code, stdout: JSON.parse(stdout) }).toEqual({ code: 0, stdout: { id, revoked: true } });
  });

  it('leaves quietly when nobody reads', async () => {
    const child = spawn(process.execPath, [installed, 'organization', 'list'], { env: environment() });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdout.destroy();
    expect(await endOf(child)).toEqual([0, null]);
    expect(errors).toBe('');
  });

  it('is started by its name', async () => {
    const child = spawn(installed, ['--version'], { env: environment() });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    expect(await endOf(child)).toEqual([0, null]);
    expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
