import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { inject } from 'vitest';
import { runCli as runCommand } from '../../src/cli/program.ts';
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

interface RunOptions {
  env?: Record<string, string>;
  data?: string;
  /** For standard input. */
  input?: string;
}

export interface CommandLine {
  /** Runs a command to its end, on the data folder and the database, in this process. */
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** The same, expecting success and JSON. */
  json(...args: readonly string[]): Promise<any>;
  /** The same as `run`, in a process of its own. */
  process(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Starts a server in a process of its own, on a free port, and waits until it is ready. */
  serve(...args: readonly string[]): Promise<RunningServe>;
  /** Has a server over the same database in this process, for as long as it is open: for what is not about `assay serve`. */
  serveHere(): Promise<TestServer>;
  /** Runs a shell, to paste something into. */
  shell(script: string): Promise<CliResult>;
  database: TestDatabase;
  /** What `ASSAY_MASTER_KEY` is; `undefined` where the key is in the data folder. */
  masterKey: string | undefined;
  close(): Promise<void>;
}

const product = inject('product');
const main = join(product, 'dist/main.js');

/** A stream that keeps what is written to it. */
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

/** The command line over a database of its own, on the engine of the run. */
export async function startCommandLine(state: InitialState = 'migrated'): Promise<CommandLine> {
  const database = await createTestDatabase(state);
  // On PostgreSQL only a server makes a master key in its folder.
  const masterKey =
    database.databaseUrl === undefined || state === 'demo' ? undefined : randomBytes(32).toString('base64');
  const servers = new Set<ChildProcess>();
  let here: Promise<TestServer> | undefined;

  const environment = (env: Record<string, string> = {}, data = database.dataDirectory) => ({
    PATH: process.env['PATH'],
    ASSAY_DATA: data,
    ...(database.databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: database.databaseUrl }),
    ...(masterKey === undefined ? {} : { ASSAY_MASTER_KEY: masterKey }),
    ...env,
  });
  const start = (args: readonly string[], { env, data }: RunOptions = {}) =>
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
      const child = start(args, options);
      if (options?.input !== undefined) child.stdin.end(options.input);
      return finish(child);
    },
    async json(...args) {
      const { code, stdout, stderr } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`assay ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async serve(...args) {
      const child = start(['serve', '--port', '0', ...args]);
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
      (here ??= serveOver(
        { ...database, drop: async () => undefined },
        // What is made by commands is sealed with it.
        masterKey === undefined ? {} : { masterKey: createSecretKey(masterKey, 'base64') },
      )),
    shell: (script) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', script], (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      }),
    async close() {
      for (const server of servers) server.kill('SIGKILL');
      await (await here)?.close();
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
