import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, type RunningServe, startCommandLine } from './command-line.ts';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('assay serve on an empty database with --no-demo', () => {
  let assay: CommandLine;
  let server: RunningServe;
  beforeAll(async () => {
    assay = await startCommandLine();
    server = await assay.serve('--no-demo');
  });
  afterAll(() => assay.close());

  it('prints commands to paste that create an organization, a user and a token', async () => {
    const steps = () => lines(server.output()).filter((line) => /^(npx )?assay (?!listening)/.test(line));
    await expect.poll(steps).toHaveLength(3);
    expect(server.output()).toContain(`Sign in:       ${server.origin}/\n`);
    for (const step of steps()) {
      const words = step.replace(/^(npx )?assay /, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
      const { code, stderr } = await assay.run(words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')));
      expect({ step, code, stderr }).toEqual({ step, code: 0, stderr: '' });
    }
  });

  it('is the base of the links of commands on the same database until it stops', async () => {
    const create = (name: string) =>
      assay.run(['user', 'create', '--email', `${name}@example.com`, '--staff']);
    const during = await create('ada');
    expect(during.stdout).toContain(`${server.origin}/invitation`);
    expect(during.stderr).toBe('');
    const configured = await assay.run(['user', 'create', '--email', 'eve@example.com', '--staff'], {
      env: { ASSAY_CLIENT_BASE_URL: 'https://assay.example' },
    });
    expect(configured.stdout).toContain('https://assay.example/invitation');
    const file = join(assay.database.dataDirectory, 'server.json');
    const content = readFileSync(file, 'utf8');
    expect(JSON.parse(content)).toEqual({
      origin: server.origin,
      pid: expect.any(Number),
      database: expect.any(String),
    });
    // Ignored if the server in this data directory uses another database.
    writeFileSync(file, JSON.stringify({ ...JSON.parse(content), database: 'db.example/other' }));
    const otherServer = await create('ann');
    expect(otherServer.stdout).not.toContain(server.origin);
    expect(otherServer.stderr).toContain('The link assumes that');
    writeFileSync(file, content);
    expect((await create('cyd')).stdout).toContain(server.origin);
    await server.stop();
    const after = await create('bob');
    expect(after.stdout).not.toContain(server.origin);
    expect(after.stderr).toContain('The link assumes that');
    // A killed server leaves its file behind.
    writeFileSync(file, JSON.stringify({ origin: server.origin, pid: 2 ** 22 + 1 }));
    expect((await create('joe')).stdout).not.toContain(server.origin);
  });
});

describe('Commands to paste', () => {
  let assay: CommandLine;
  beforeAll(async () => {
    assay = await startCommandLine();
  });
  afterAll(() => assay.close());

  it('begin with npx if npm or npx started the program', async () => {
    const missing = (env: Record<string, string> = {}) =>
      assay.run(['user', 'ban', 'none@x.example'], { env });
    await assay.run(['user', 'create', '--email', 'ada@x.example', '--staff']);
    expect((await missing()).stderr).toContain('Run "assay user list"');
    for (const npm_command of ['exec', 'start'])
      expect((await missing({ npm_command })).stderr).toContain('Run "npx assay user list"');
    const mistyped = async (words: string[], env: Record<string, string> = {}) =>
      (await assay.run(words, { env })).stderr;
    expect(await mistyped(['user', 'lst'])).toContain('Run "assay user --help"');
    expect(await mistyped(['user', 'lst'], { npm_command: 'exec' })).toContain('Run "npx assay user --help"');
    expect(await mistyped(['user', 'create'], { npm_command: 'exec' })).toContain(
      'Run "npx assay user create --help"',
    );
  });

  it('name the data directory that was given', async () => {
    const create = (...options: string[]) =>
      assay.run(['user', 'create', '--email', `user${options.length}@x.example`, '--staff', ...options]);
    expect((await create()).stdout).toMatch(/assay token create --user user0@x\.example$/m);
    const { dataDirectory } = assay.database;
    expect((await create('--data', dataDirectory)).stdout).toContain(
      `assay token create --user user2@x.example --data ${dataDirectory}\n`,
    );
  });
});

describe('assay serve fails', () => {
  let assay: CommandLine;
  beforeAll(async () => {
    assay = await startCommandLine();
    await assay.json('migrate');
  });
  afterAll(() => assay.close());

  it('if the port is in use', async () => {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { code, stderr } = await assay.run(['serve', '--no-demo', '--port', String(port)]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `assay: Port ${port} on 127.0.0.1 is already in use. Stop the process that uses it, or choose another port with --port (0 for any free port).\n`,
    });
    listener.close();
  });

  it('if the address is not of this machine', async () => {
    const args = ['serve', '--no-demo', '--port', '0', '--host', '192.0.2.1'];
    const { code, stderr } = await assay.run(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'assay: 192.0.2.1 is not an address of this machine. Choose another with --host.\n',
    });
  });
});
