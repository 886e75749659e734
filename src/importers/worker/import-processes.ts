import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';

/** MiB, of each of the two halves of the young generation. Nearly all objects of a run are short-lived. */
const SEMI_SPACE_SIZE = 4;
/** Milliseconds after which an idle process ends. */
const MAX_IDLE_TIME = 10_000;
/** Bytes of resident memory: a process with more ends after its run, so that what a large report took is free again. */
const MAX_IDLE_MEMORY = 160 * 1024 * 1024;

interface IdleProcess {
  process: ChildProcess;
  timer: NodeJS.Timeout;
}

/** Idle processes by memory limit and module: at most one for each import that ran at the same time. */
const idleProcesses = new Map<string, IdleProcess[]>();

const keyOf = (url: URL, memory: number) => `${memory} ${url.href}`;

/**
 * @param url of the module that it runs
 * @param memory the limit of the heap in MiB
 * @returns a process that has ended its runs, or a new one
 */
export function acquireProcess(url: URL, memory: number): ChildProcess {
  const idle = idleProcesses.get(keyOf(url, memory))?.pop();
  if (idle === undefined)
    return fork(url, {
      execArgv: [`--max-old-space-size=${memory}`, `--max-semi-space-size=${SEMI_SPACE_SIZE}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
  clearTimeout(idle.timer);
  for (const event of ['exit', 'disconnect', 'error']) idle.process.removeAllListeners(event);
  setReferenced(idle.process, true);
  return idle.process;
}

/**
 * Lets the next run have a process that has ended its own, and ends it if none begins soon. An idle process does not
 * keep this one alive, and ends with it.
 * @param used bytes of its resident memory
 */
export function releaseProcess(process: ChildProcess, url: URL, memory: number, used: number): void {
  if (!(used <= MAX_IDLE_MEMORY && process.connected)) {
    process.kill('SIGKILL');
    return;
  }
  const key = keyOf(url, memory);
  const others = idleProcesses.get(key) ?? [];
  idleProcesses.set(key, others);
  const forget = () => {
    clearTimeout(timer);
    const index = others.indexOf(idle);
    if (index >= 0) others.splice(index, 1);
  };
  const end = () => {
    // No run may take it before its exit is reported.
    forget();
    process.kill('SIGKILL');
  };
  // It has no transaction and no file open.
  const timer = setTimeout(end, MAX_IDLE_TIME).unref();
  const idle = { process, timer };
  process.once('exit', forget).once('disconnect', forget).on('error', forget);
  setReferenced(process, false);
  others.push(idle);
}

/** Sets whether a process and its channels keep this one alive. */
function setReferenced(process: ChildProcess, isReferenced: boolean): void {
  const change = isReferenced ? 'ref' : 'unref';
  process[change]();
  process.channel?.[change]();
  // A pipe is a socket.
  (process.stderr as Socket | null)?.[change]();
}
