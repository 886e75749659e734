import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { inject } from 'vitest';
import { parseAttachmentStore } from '../../src/config/attachment-store.ts';
import { runCli as runCommand } from '../../src/cli/program.ts';
import { eventually } from '../harness/eventually.ts';
import { createTestDatabase, type InitialState, type TestDatabase } from '../harness/database.ts';
import { serve as serveOver, type TestServer } from '../harness/server.ts';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningServe {
  origin: string;
  /** Everything on standard output so far. */
  output(): string;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<CliResult>;
}

export interface RunningCommand {
  stdin: PassThrough;
  /** Standard output and standard error so far, interleaved. */
  output(): string;
  /** Sends the command SIGINT, once it listens for it. */
  interrupt(): Promise<void>;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

interface RunOptions {
  env?: Record<string, string>;
  data?: string;
  /** Standard input. */
  input?: string;
}

export interface CommandLine {
  /** Runs a command in this process, and resolves when it ends. */
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Like `run`, with `--json`; expects success and returns the parsed output. */
  json(...args: readonly string[]): Promise<any>;
  /** Starts a command in this process. Only one at a time can be interrupted. */
  start(args: readonly string[], options?: Omit<RunOptions, 'input'>): RunningCommand;
  /** Like `run`, in a new process. Without `input`, its standard input stays open. */
  process(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Starts `assay serve` in a new process on a free port, and waits until it is ready. */
  serve(...args: readonly string[]): Promise<RunningServe>;
  /** Returns a server over the same database in this process, for tests that are not about `assay serve`. */
  serveHere(): Promise<TestServer>;
  shell(script: string): Promise<CliResult>;
  database: TestDatabase;
  /** `ASSAY_MASTER_KEY`; `undefined` if the key is in the data folder. */
  masterKey: string | undefined;
  close(): Promise<void>;
}

const product = inject('product');
const main = join(product, 'dist/main.js');

class CollectedOutput extends Writable {
  readonly #chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

/**
 * Creates a database on the engine of the run, and the command line over it.
 * @param settings environment variables of every command; servers in this process use only their attachment store
 */
export async function startCommandLine(
  state: InitialState = 'migrated',
  settings: Readonly<Record<string, string>> = {},
): Promise<CommandLine> {
  const database = await createTestDatabase(state);
  // On PostgreSQL, only a server creates a master key in its folder.
  const masterKey =
    database.databaseUrl === undefined || state === 'demo' ? undefined : randomBytes(32).toString('base64');
  const servers = new Set<ChildProcess>();
  let directServer: Promise<TestServer> | undefined;

  const environment = (env: Record<string, string> = {}, data = database.dataDirectory) => ({
    PATH: process.env['PATH'],
    ASSAY_DATA: data,
    // If two commands load the demo data at the same time, one waits for the other.
    ASSAY_REQUEST_TIMEOUT: '120000',
    ...(database.databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: database.databaseUrl }),
    ...(masterKey === undefined ? {} : { ASSAY_MASTER_KEY: masterKey }),
    ...settings,
    ...env,
  });
  const spawnAssay = (args: readonly string[], { env, data }: RunOptions = {}) =>
    spawn(process.execPath, [main, ...args], { cwd: product, stdio: 'pipe', env: environment(env, data) });
  const run: CommandLine['run'] = async (args, { env, data, input = '' } = {}) => {
    const stdin = new PassThrough();
    stdin.end(input);
    const [stdout, stderr] = [new CollectedOutput(), new CollectedOutput()];
    const code = await runCommand(args, { stdin, stdout, stderr, env: environment(env, data) });
    return { code, stdout: stdout.text, stderr: stderr.text };
  };

  return {
    database,
    masterKey,
    run,
    process(args, options) {
      const child = spawnAssay(args, options);
      if (options?.input !== undefined) child.stdin.end(options.input);
      return finish(child);
    },
    async json(...args) {
      const { code, stdout, stderr } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`assay ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    start(args, { env, data } = {}) {
      const earlierListeners = new Set(process.rawListeners('SIGINT'));
      const stdin = new PassThrough();
      const output = new CollectedOutput();
      const streams = { stdin, stdout: output, stderr: output, env: environment(env, data) };
      return {
        stdin,
        output: () => output.text,
        interrupt: () =>
          eventually(() => {
            const listeners = process
              .rawListeners('SIGINT')
              .filter((listener) => !earlierListeners.has(listener));
            if (listeners.length === 0) throw new Error(`No command listens for SIGINT: ${output.text}`);
            for (const listener of listeners) listener.call(process, 'SIGINT');
          }),
        ended: runCommand(args, streams),
      };
    },
    async serve(...args) {
      const child = spawnAssay(['serve', '--port', '0', ...args]);
      servers.add(child);
      const finished = finish(child);
      let output = '';
      const origin = await new Promise<string>((resolve, reject) => {
        child.stdout.on('data', (chunk: string) => {
          output += chunk;
          const ready = /^assay listening on (\S+)$/m.exec(output);
          if (ready?.[1] !== undefined) resolve(ready[1]);
        });
        void finished.then(({ code, stderr }) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
      });
      return {
        origin,
        output: () => output,
        stop() {
          child.kill('SIGTERM');
          return finished;
        },
      };
    },
    serveHere: () =>
      (directServer ??= serveOver(
        { ...database, drop: async () => undefined },
        {
          attachments: parseAttachmentStore((name) => settings[name]),
          // Commands encrypt the keys with it.
          ...(masterKey === undefined ? {} : { masterKey: createSecretKey(masterKey, 'base64') }),
        },
      )),
    shell: (script) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', script], (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      }),
    async close() {
      for (const server of servers) server.kill('SIGKILL');
      await (await directServer)?.close();
      await database.drop();
    },
  };
}

function finish(child: ReturnType<typeof spawn>): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
