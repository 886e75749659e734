import { spawnSync } from 'node:child_process';

/** Programs that tests need and a machine may lack, with the tests that are skipped without them. */
export const PROGRAMS = {
  bash: 'the completion in bash',
  zsh: 'the completion in zsh',
  fish: 'the completion in fish',
  curl: 'the curl commands of the tutorial and of "assay serve"',
} as const;

/** @returns whether the machine has a program */
export const isInstalled = (program: keyof typeof PROGRAMS): boolean =>
  spawnSync(program, ['--version']).status === 0;

/** `script` of util-linux runs a command on a terminal; those of other systems have other options. */
export const HAS_TERMINAL = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
);
