import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { nextStepLines } from '../../src/cli/first-steps.ts';
import { send } from '../harness/server.ts';
import { type CommandLine, startCommandLine } from './command-line.ts';

let assay: CommandLine;
let data: string;
beforeEach(async () => {
  assay = await startCommandLine();
  data = assay.database.dataDirectory;
});
afterEach(() => assay.close());

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('assay serve, which is the same on both engines', () => {
  it('prints what comes next where there is nothing yet, each line to paste', async () => {
    const server = await assay.serve('--no-demo');
    const steps = () => lines(server.output()).filter((line) => /^(npx )?assay (?!listening)/.test(line));
    await expect.poll(steps).toHaveLength(3);
    for (const step of steps()) {
      const words = step.replace(/^(npx )?assay /, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
      const { code, stderr } = await assay.run(words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')));
      expect({ step, code, stderr }).toEqual({ step, code: 0, stderr: '' });
    }
    await server.stop();
    const again = await assay.serve('--no-demo');
    expect((await again.stop()).stdout).not.toContain('These come next');
  });

  it('says npx in its own folder alone, where npm finds it, and names the data folder', () => {
    const root = inject('product');
    const commands = (from: string) =>
      nextStepLines('http://x', '/srv/a b', from).filter((line) => line.includes('create'));
    for (const step of commands(root)) expect(step).toMatch(/^npx assay .* --data '\/srv\/a b'$/);
    for (const from of ['/', join(root, '..')]) {
      for (const step of commands(from)) expect(step).toMatch(/^assay .* --data '\/srv\/a b'$/);
    }
  });

  it('lets commands make links that lead to it, as long as it runs, and of no other database', async () => {
    const create = (name: string) =>
      assay.run(['user', 'create', '--email', `${name}@example.com`, '--staff']);
    const server = await assay.serve('--no-demo');
    const during = await create('ada');
    expect(during.stdout).toContain(`${server.origin}/invitation`);
    expect(during.stderr).toBe('');
    const configured = await assay.run(['user', 'create', '--email', 'eve@example.com', '--staff'], {
      env: { ASSAY_CLIENT_BASE_URL: 'https://assay.example' },
    });
    expect(configured.stdout).toContain('https://assay.example/invitation');
    const file = join(data, 'server.json');
    const told = readFileSync(file, 'utf8');
    expect(JSON.parse(told)).toEqual({
      origin: server.origin,
      pid: expect.any(Number),
      database: expect.any(String),
    });
    // It is not believed of another database, whose folder a command happens to be in.
    writeFileSync(file, JSON.stringify({ ...JSON.parse(told), database: 'db.example/other' }));
    const elsewhere = await create('ann');
    expect(elsewhere.stdout).not.toContain(server.origin);
    expect(elsewhere.stderr).toContain('The link assumes that');
    writeFileSync(file, told);
    expect((await create('cyd')).stdout).toContain(server.origin);
    await server.stop();
    const after = await create('bob');
    expect(after.stdout).not.toContain(server.origin);
    expect(after.stderr).toContain('The link assumes that');
    // A process that was killed leaves its word behind, and another one may have its number by now.
    writeFileSync(file, JSON.stringify({ origin: server.origin, pid: 2 ** 22 + 1 }));
    expect((await create('joe')).stdout).not.toContain(server.origin);
  });

  it('serves the areas that it is told to', async () => {
    await assay.close();
    assay = await startCommandLine('demo');
    const server = await assay.serve('--areas', 'assessment,streaming');
    const statusOf = (path: string) => send(server.origin, 'GET', path).then(({ status }) => status);
    expect(await statusOf('/api/assessment/v1/assessment-groups/1/members')).toBe(401);
    expect(await statusOf('/v1/assessments/x/testing_hours')).toBe(404);
    await expect
      .poll(() => lines(server.output()).filter((line) => line.startsWith('curl ')))
      .toHaveLength(2);
    await server.stop();
  });

  it('says which port is taken', async () => {
    await assay.json('migrate');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { code, stderr } = await assay.run(['serve', '--no-demo', '--port', String(port)]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `assay: Port ${port} on 127.0.0.1 is already in use. Stop the process that uses it, or choose another port with --port (0 for any free port).\n`,
    });
    other.close();
  });

  it('says which address is none of its own', async () => {
    await assay.json('migrate');
    const args = ['serve', '--no-demo', '--port', '0', '--host', '192.0.2.1'];
    const { code, stderr } = await assay.run(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'assay: 192.0.2.1 is not an address of this machine. Choose another with --host.\n',
    });
  });
});
