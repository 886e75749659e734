import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

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

/** @returns state, parent and niceness of a process by `stat` of proc(5), or nothing if it has ended */
function statusOf(pid: number): { state: string; parent: number; nice: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name of the program, which may contain spaces and parentheses.
    const [state = '', parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent), nice: Number(fields[14]) };
  } catch {
    return undefined;
  }
}

/** @returns the running child processes of a process, on Linux only */
export function childProcessesOf(parent: number): { pid: number; nice: number }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...statusOf(Number(name)) }))
    .flatMap((status) => (status.parent === parent ? [{ pid: status.pid, nice: status.nice ?? 0 }] : []));
}

/** @returns whether a process runs; one that has ended and that init has not reaped does not */
export const isRunning = (pid: number): boolean => !['Z', undefined].includes(statusOf(pid)?.state);
