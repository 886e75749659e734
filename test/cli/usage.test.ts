import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
afterAll(() => assay.close());

/** All commands without subcommands, such as `organization group add`. */
const COMMANDS = commandsOf(buildProgram());
const FAMILIES = [...new Set(COMMANDS.map((command) => command.split(' ').slice(0, -1).join(' ')))];

function commandsOf({ commands }: Command, path: readonly string[] = []): string[] {
  return commands.flatMap((command) => {
    const words = [...path, command.name()];
    return command.commands.length === 0 ? [words.join(' ')] : commandsOf(command, words);
  });
}

describe('help', () => {
  it('lists the commands, common options and exit codes', async () => {
    const { code, stdout, stderr } = await assay.run(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of new Set(COMMANDS.map((command) => command.split(' ')[0]))) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    expect(stdout).toContain('0 success, 1 failure, 2 usage error');
  });

  it.each(COMMANDS)('shows examples of %s', async (command) => {
    const { code, stdout, stderr } = await assay.run([...command.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: assay ${command} `);
    expect(stdout).toMatch(new RegExp(`Examples:\\n(.*\\n)* {2}\\$ .*assay ${command}`));
    expect(stdout.includes('--data <folder>')).toBe(!['completion', 'login', 'logout'].includes(command));
    expect(stdout.includes('--json')).toBe(!['serve', 'completion'].includes(command));
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  it('describes commands and options in sentences', () => {
    const described = ({ commands, options }: Command): string[] => [
      ...options.map(({ description }) => description),
      ...commands.flatMap((command) => [command.description(), ...described(command)]),
    ];
    const texts = described(buildProgram());
    expect(texts.length).toBeGreaterThan(500);
    expect(
      texts.filter(
        (text) =>
          !/^(?:[A-Z\d`]|https?\b).*\.(?: \((?:repeatable|required)\))*$/.test(text) || /e-mail/i.test(text),
      ),
    ).toEqual([]);
  });

  it('prints the version', async () => {
    expect(await assay.run(['--version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });
});

describe('a usage error', () => {
  it.each([
    ['frobnicate', "unknown command 'frobnicate'. Run"],
    ['user frobnicate', "unknown command 'frobnicate'. Run"],
    ['user list --frobnicate', "unknown option '--frobnicate'. Run"],
    ['user list everything', 'too many arguments'],
    ['user list --data=', "'--data <folder>' argument '' is invalid"],
    ['user create --staff', "required option '--email <email>' not specified"],
    ['user create --email a@example.com', 'Specify --organization UID or --staff'],
    ['user create --email a@example.com --organization x --staff', 'cannot be used with'],
    ['user create --email a@example.com --organization x --assign y', '--assign requires --staff'],
    [
      'user create --email nobody --staff',
      '--email must be an email address such as ada@example.com, not "nobody"',
    ],
    ['user ban', "missing required argument 'user'"],
    ['token create', "required option '--user <user>' not specified"],
    ['token create --user a@example.com --expires 5', 'such as 90s, 15m, 1h or 30d'],
    ['token create --user a@example.com --expires 0h', 'such as 90s, 15m, 1h or 30d'],
    ['token create --user a@example.com --expires 1y', 'such as 90s, 15m, 1h or 30d'],
    ['token create --user a@example.com --expires 9999d', 'such as 90s, 15m, 1h or 30d'],
    [
      'organization create UPPER --name Upper',
      'UID must be 1 to 50 lowercase letters and digits, not "UPPER"',
    ],
    ['organization create lower --name=', '--name must not be empty'],
    ['organization create lower', "required option '--name <name>' not specified"],
    ['serve --port 70000', '--port must be a whole number from 0 to 65535, not "70000"'],
    ['serve --port http', '--port must be a whole number from 0 to 65535, not "http"'],
    [
      'serve --areas v1,nonsense',
      '--areas must be one of v1, tagging, assessment, asset, streaming, not "nonsense"',
    ],
    ['serve --areas ,', '--areas must name at least one of'],
    ['backup', "missing required argument 'file'"],
  ])('%s', async (command, message) => {
    const { code, stdout, stderr } = await assay.run(command.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^assay: .*\n$/);
    expect(stderr).toContain(message);
  });

  it.each([
    ['PORT', 'http'],
    ['ASSAY_AREAS', 'nonsense'],
    ['ASSAY_RATE_LIMIT', '-1'],
    ['ASSAY_BASE_URL', 'nowhere'],
    ['ASSAY_DATABASE_URL', 'mysql://db/assay'],
    ['ASSAY_MASTER_KEY', 'c2hvcnQ='],
  ])('of the environment: invalid %s', async (name, value) => {
    const { code, stdout, stderr } = await assay.run(['user', 'list'], { env: { [name]: value } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^assay: ${name} .*\\n$`));
  });

  it.each(FAMILIES)('"%s" without a command shows the commands', async (command) => {
    const { code, stdout, stderr } = await assay.run(command.split(' ').filter(Boolean));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: assay /);
  });
});

describe('a command fails', () => {
  it('if the data folder is not a folder', async () => {
    const file = join(assay.database.dataDirectory, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await assay.run(['organization', 'list'], {
      data: join(file, 'data'),
      env: { ASSAY_MASTER_KEY: '' },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^assay: Cannot use the data directory .* \(ENOTDIR\)\. Choose another with --data\.\n$/,
    );
  });

  it('if PostgreSQL is unreachable, without printing the password', async () => {
    const { code, stderr } = await assay.run(['organization', 'list'], {
      env: { ASSAY_DATABASE_URL: 'postgres://assay:hunter2@127.0.0.1:1/assay' },
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'assay: Cannot connect to PostgreSQL at 127.0.0.1:1 (ECONNREFUSED). Check that it is running, and ASSAY_DATABASE_URL.\n',
    );
  });
});
