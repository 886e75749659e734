import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Serving {
  origin: string;
  /** Everything on standard output so far. */
  output(): string;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Finished>;
}

export interface CommandLine {
  /** Runs a command to its end, on the data folder and the database. */
  run(
    args: readonly string[],
    options?: { env?: Record<string, string>; data?: string; /** For standard input. */ input?: string },
  ): Promise<Finished>;
  /** The same, expecting success and JSON. */
  json(...args: readonly string[]): Promise<any>;
  /** Starts a server on a free port and waits until it is ready. */
  serve(...args: readonly string[]): Promise<Serving>;
  /** Runs a shell, to paste something into. */
  shell(script: string): Promise<Finished>;
  database: TestDatabase;
  /** What `ASSAY_MASTER_KEY` is; `undefined` where the key is in the data folder. */
  masterKey: string | undefined;
  /** Imports a module as it is compiled: `importers/nmap-thread.js`. */
  module(path: string): Promise<any>;
  close(): Promise<void>;
}

const release = inject('release');
const main = join(release, 'dist/main.js');

/** The command line over a database of its own, on the engine of the run. */
export async function startCommandLine(): Promise<CommandLine> {
  const database = await createTestDatabase();
  // On PostgreSQL only a server makes a master key in its folder.
  const masterKey = database.databaseUrl === undefined ? undefined : randomBytes(32).toString('base64');
  const servers = new Set<ChildProcess>();

  const start = (args: readonly string[], env: Record<string, string> = {}, data = database.dataDirectory) =>
    spawn(process.execPath, [main, ...args], {
      cwd: release,
      stdio: 'pipe',
      env: {
        PATH: process.env['PATH'],
        ASSAY_DATA: data,
        ...(database.databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: database.databaseUrl }),
        ...(masterKey === undefined ? {} : { ASSAY_MASTER_KEY: masterKey }),
        ...env,
      },
    });
  const run: CommandLine['run'] = (args, { env, data, input } = {}) => {
    const child = start(args, env, data);
    if (input !== undefined) child.stdin.end(input);
    return finish(child);
  };

  return {
    database,
    masterKey,
    module: (path) => import(join(release, 'dist', path)),
    run,
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
    shell: (script) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', script], (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      }),
    async close() {
      for (const server of servers) server.kill('SIGKILL');
      await database.drop();
    },
  };
}

function finish(child: ReturnType<typeof spawn>): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
