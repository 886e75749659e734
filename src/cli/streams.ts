import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
  /** Default: the environment of the process. */
  env?: NodeJS.ProcessEnv;
}

type Output = NodeJS.WritableStream & { isTTY?: boolean };

const currentStreams = new AsyncLocalStorage<Streams>();

/**
 * Runs a command with streams and an environment of its own.
 * @param io default: the streams of the process, without AsyncLocalStorage, which would slow a server down
 */
export function withStreams<T>(io: Streams | undefined, command: () => Promise<T>): Promise<T> {
  return io === undefined ? command() : currentStreams.run(io, command);
}

/** Returns the streams of the running command, or those of the process. */
export function streams(): Streams {
  return currentStreams.getStore() ?? process;
}

/** Returns the command to paste into the user's terminal; a program that npm or npx started is not on its path. */
export function programName(): string {
  return streams().env?.['npm_command'] === undefined ? 'assay' : 'npx assay';
}
