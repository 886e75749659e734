import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

/** What a command reads and writes beside the database. */
export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
  /** The process's own when absent. */
  env?: NodeJS.ProcessEnv;
}

type Output = NodeJS.WritableStream & { isTTY?: boolean };

const currentStreams = new AsyncLocalStorage<Streams>();

/**
 * Runs a command with streams and an environment that are its own, whatever else runs in the process.
 * @param given those of the process when absent: a server would else pay for each promise that it makes
 */
export function withStreams<T>(given: Streams | undefined, command: () => Promise<T>): Promise<T> {
  return given === undefined ? command() : currentStreams.run(given, command);
}

/** @returns what the command that is running was given; the process's own outside of one */
export function streams(): Streams {
  return currentStreams.getStore() ?? process;
}
