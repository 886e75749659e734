import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, startCommandLine } from './command-line.ts';

let assay: CommandLine;
beforeAll(async () => {
  assay = await startCommandLine();
});
afterAll(() => assay.close());

const script = async (shell: string) => (await assay.run(['completion', shell])).stdout;
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;

/** Runs a shell with a script on its standard input. */
function feed(shell: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(shell, args, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr)),
    );
    child.stdin?.end(input);
  });
}

describe.runIf(has('bash'))('in bash', () => {
  /** What bash offers for the last word of a line. */
  async function offered(...words: string[]): Promise<string[]> {
    const line = words.map((word) => `'${word}'`).join(' ');
    const output = await feed(
      'bash',
      ['--norc'],
      `${await script('bash')}
COMP_WORDS=(assay ${line})
COMP_CWORD=${words.length}
_assay
printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    return output.split('\n').filter((word) => word !== '');
  }

  it('offers every command of the program', async () => {
    const { stdout } = await assay.run(['--help']);
    const listed = [...(stdout.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)].map(
      ([, word]) => word,
    );
    expect(listed.length).toBeGreaterThan(10);
    expect(await offered('')).toEqual(expect.arrayContaining(listed));
  });

  it('follows commands to their options', async () => {
    expect(await offered('us')).toEqual(['user']);
    expect(await offered('user', 'cr')).toEqual(['create']);
    expect(await offered('user', 'create', '--em')).toEqual(['--email']);
    expect(await offered('organization', 'group', 'a')).toEqual(['add']);
    expect(await offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it('leaves what an option takes to file names', async () => {
    expect(await offered('user', 'list', '--data', '')).toEqual([]);
    expect(await offered('user', 'list', '--data', 'user', '--js')).toEqual(['--json', '--jsonl']);
  });
});

describe('in other shells', () => {
  /** What a zsh in a terminal of its own runs, after someone typed a line and asked for completion with the tab key. */
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

  it.runIf(has('zsh'))('zsh offers commands, options and words', async () => {
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

  it.runIf(has('zsh'))('zsh offers files where none of the commands fits', async () => {
    expect(
      await completedByZsh(['assay import openapi.js', 'assay import unde', 'assay import und']),
    ).toEqual(['import openapi.json', 'import unde', 'import undo']);
  });

  it.runIf(has('fish'))('fish offers the same', async () => {
    // It reads no script from the kind of pipe that Node.js makes, and this one is longer than an argument may be.
    const folder = mkdtempSync(join(tmpdir(), 'assay-completion-'));
    try {
      const file = join(folder, 'assay.fish');
      const asked = ['assay user cr', 'assay vulnerability create --severity C', 'assay completion z'];
      writeFileSync(
        file,
        [await script('fish'), ...asked.map((line) => `complete -C '${line}'`)].join('\n') + '\n',
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

  it('names the shells that it knows', async () => {
    expect(await assay.run(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
    });
  });
});
