import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadResult } from './load.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPESCRIPT = ['--import', 'tsx'];

export interface Server {
  port: number;
  /** Milliseconds from the start of the process to the line that says it listens. */
  startup: number;
  /** Peak resident memory of the process, in MiB. */
  peakMemory(): number;
  /** Resident memory now, in bytes. */
  memory(): number;
  /** Milliseconds of processor time so far, with that of its processes for imports. */
  processorTime(): number;
  stop(): Promise<void>;
}

/** Starts the product as users do. */
export function startAssay(
  env: NodeJS.ProcessEnv,
  dataDirectory: string,
  flags: readonly string[] = ['--no-demo'],
): Promise<Server> {
  return start(['dist/main.js', 'serve', '--port', '0', '--data', dataDirectory, ...flags], env);
}

/** Starts the bare handler. */
export function startBare(env: NodeJS.ProcessEnv, dataDirectory: string): Promise<Server> {
  return start([...TYPESCRIPT, 'bench/baseline-server.ts', dataDirectory], env);
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Server> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}: ${output}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      if (output.length > 100_000) return;
      output += chunk.toString();
      const port = /listening on http:\/\/[^:]+:(\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      output = ' '.repeat(100_001);
      child.removeAllListeners('exit');
      resolve({
        port: Number(port),
        startup: performance.now() - startedAt,
        peakMemory: () => residentPeak(child),
        memory: () => memoryOf(child, 'VmRSS') * 1024,
        processorTime: () => processorTimeOf(Number(child.pid)),
        stop: () => stop(child),
      });
    });
  });
}

/** @returns MiB */
const residentPeak = (child: ChildProcess): number => memoryOf(child, 'VmHWM') / 1024;

/** @returns KiB */
function memoryOf(child: ChildProcess, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
}

/** Linux counts processor time in hundredths of a second. */
const TICK = 10;

/** @returns milliseconds of processor time of a process and of its descendants, ended ones included */
export function processorTimeOf(pid: number): number {
  const statistics = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, 'utf8');
        // The name of the program, in parentheses, may contain spaces.
        const fields = text
          .slice(text.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number);
        const [, parent] = fields;
        const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
        return [{ pid: Number(name), parent, ticks }];
      } catch {
        // The process has just ended.
        return [];
      }
    });
  const ticksOf = (id: number): number =>
    statistics.reduce(
      (sum, one) => sum + (one.pid === id ? one.ticks : 0) + (one.parent === id ? ticksOf(one.pid) : 0),
      0,
    );
  return ticksOf(pid) * TICK;
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

export interface CommandResult {
  seconds: number;
  /** MiB. */
  peakMemory: number;
  output: string;
}

/** Runs a command and samples its memory. */
export function runCommand(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let peakMemory = 0;
  const watch = setInterval(() => {
    try {
      peakMemory = Math.max(peakMemory, residentPeak(child));
    } catch {
      // The process has just ended.
    }
  }, 100);
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      clearInterval(watch);
      if (code === 0) resolve({ seconds: (performance.now() - startedAt) / 1000, peakMemory, output });
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${output}`));
    });
  });
}

/** A separate process that generates the load, so that it does not use the server's thread. */
export class LoadProcess {
  readonly #child = fork('bench/load.ts', { cwd: ROOT, execArgv: TYPESCRIPT });

  run(job: LoadJob): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (message: { result: LoadResult } | { error: string }) => {
        if ('result' in message) resolve(message.result);
        else reject(new Error(message.error));
      });
      this.#child.send(job);
    });
  }

  stop(): void {
    this.#child.kill();
  }
}
