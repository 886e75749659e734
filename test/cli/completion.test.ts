import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../harness/machine.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
afterAll(() => assay.close());

const script = async (shell: string) => (await assay.run(['completion', shell])).stdout;

/** Runs a shell with a script on its standard input. */
function feed(shell: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(shell, args, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr)),
    );
    child.stdin?.end(input);
  });
}

describe.runIf(isInstalled('bash'))('completion in bash', () => {
  /** Returns bash's suggestions for the last word of each line. */
  async function suggestions(...lines: readonly (readonly string[])[]): Promise<string[][]> {
    const completions = lines.map(
      (words) => `COMP_WORDS=(assay ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
COMPREPLY=()
_assay
printf '%s ' "\${COMPREPLY[@]}"
echo`,
    );
    const output = await feed('bash', ['--norc'], [await script('bash'), ...completions].join('\n'));
    return output
      .split('\n')
      .slice(0, -1)
      .map((words) => words.split(' ').filter((word) => word !== ''));
  }

  it('suggests every command', async () => {
    const { stdout } = await assay.run(['--help']);
    const listed = [...(stdout.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)].map(
      ([, word]) => word,
    );
    expect(listed.length).toBeGreaterThan(10);
    expect(await suggestions([''])).toEqual([expect.arrayContaining(listed)]);
  });

  it('suggests subcommands and options', async () => {
    expect(
      await suggestions(
        ['us'],
        ['user', 'cr'],
        ['user', 'create', '--em'],
        ['organization', 'group', 'a'],
        ['completion', ''],
      ),
    ).toEqual([['user'], ['create'], ['--email'], ['add'], expect.arrayContaining(['bash', 'zsh', 'fish'])]);
  });

  it('suggests files for the value of an option', async () => {
    expect(
      await suggestions(['user', 'list', '--data', ''], ['user', 'list', '--data', 'user', '--js']),
    ).toEqual([[], ['--json', '--jsonl']]);
  });
});

describe('completion in other shells', () => {
  /** Returns the commands that zsh runs on a pseudo-terminal after each line was completed with the tab key. */
  async function completedByZsh(lines: readonly string[]): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), 'assay-completion-'));
    try {
      const file = join(folder, 'assay.zsh');
      writeFileSync(file, await script('zsh'));
      const first = `autoload -U compinit && compinit -u -D; . ${file}; assay() { print -r "ran""<$*>" }`;
      const output = await feed(
        'zsh',
        ['-f'],
        [
          'export TERM=dumb; zmodload zsh/zpty; zpty z zsh -f -i',
          `zpty -w z '${first}'`,
          ...lines.map((line) => `zpty -w z '${line}\t'; zpty -r -m z seen '*ran<*>*'; print -r -- $seen`),
          'zpty -d z',
        ].join('\n'),
      );
      return [...output.matchAll(/ran<([^>]*)>/g)].map(([, words = '']) => words);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it.runIf(isInstalled('zsh'))('zsh suggests commands, options and values', async () => {
    expect(
      await completedByZsh([
        'assay us',
        'assay user cr',
        'assay user create --em',
        'assay organization group a',
        'assay completion fi',
      ]),
    ).toEqual(['user', 'user create', 'user create --email', 'organization group add', 'completion fish']);
  });

  it.runIf(isInstalled('zsh'))('zsh suggests files if no command matches', async () => {
    expect(
      await completedByZsh(['assay import openapi.js', 'assay import unde', 'assay import und']),
    ).toEqual(['import openapi.json', 'import unde', 'import undo']);
  });

  it.runIf(isInstalled('fish'))('fish suggests commands and values', async () => {
    // fish cannot read a script from a pipe of Node.js, and this one is too long for an argument.
    const folder = mkdtempSync(join(tmpdir(), 'assay-completion-'));
    try {
      const file = join(folder, 'assay.fish');
      const inputs = ['assay user cr', 'assay vulnerability create --severity C', 'assay completion z'];
      writeFileSync(
        file,
        [await script('fish'), ...inputs.map((line) => `complete -C '${line}'`)].join('\n') + '\n',
      );
      expect((await feed('fish', ['--no-config', file], '')).trimEnd().split('\n')).toEqual([
        expect.stringMatching(/^create\t/),
        'Critical',
        'zsh',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('rejects an unknown shell and lists the supported ones', async () => {
    expect(await assay.run(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
    });
  });
});
