import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startCommandLine } from './command-line.ts';

/** Behaviour that needs a separate process; other tests run commands in their own. serve.test.ts tests signals. */
const assay = await startCommandLine();
beforeAll(async () => {
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('user', 'create', '--email', 'ada@example.com', '--organization', 'acme');
});
afterAll(() => assay.close());

const installed = join(inject('product'), 'bin/assay.js');
const environment = () => ({ PATH: process.env['PATH'], ASSAY_DATA: assay.database.dataDirectory });
const endOf = async (child: ChildProcess) => (await once(child, 'close')) as [number | null, string | null];

describe('assay as a process', () => {
  it.each([
    [1, ['user', 'ban', 'nobody@example.com'], /^assay: .*\n$/],
    [2, ['user', 'frobnicate'], /^assay: unknown command/],
  ])('exits with %i and prints the error', async (code, args, stderr) => {
    expect(await assay.process(args)).toEqual({ code, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it('exits with 0, and prefers options to the environment', async () => {
    const flags = ['organization', 'list', '--json', '--data', assay.database.dataDirectory];
    const { code, stdout } = await assay.process(flags, { env: { ASSAY_DATA: '/dev/null/none' } });
    expect({ code, stdout: JSON.parse(stdout) }).toEqual({
      code: 0,
      stdout: await assay.json('organization', 'list'),
    });
  });

  it('reads piped input', async () => {
    const { token, id } = await assay.json('token', 'create', '--user', 'ada@example.com');
    const input = { input: `${token}\n` };
    const { code, stdout } = await assay.process(['token', 'revoke', '-', '--json'], input);
    expect({ code, stdout: JSON.parse(stdout) }).toEqual({ code: 0, stdout: { id, revoked: true } });
  });

  it('exits quietly if its output is closed (EPIPE)', async () => {
    const child = spawn(process.execPath, [installed, 'organization', 'list'], { env: environment() });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdout.destroy();
    expect(await endOf(child)).toEqual([0, null]);
    expect(errors).toBe('');
  });

  it('is installed as an executable', async () => {
    const child = spawn(installed, ['--version'], { env: environment() });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    expect(await endOf(child)).toEqual([0, null]);
    expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
