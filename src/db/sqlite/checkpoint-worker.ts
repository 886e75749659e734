import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';

/** A thread that brings what SQLite's write-ahead log has into the database file, over a connection of its own. */
export interface CheckpointWorkerData {
  path: string;
  timeout: number;
}

/** To copy what can be copied, `'copy'`, or to end. */
export type CheckpointCommand = 'copy' | 'end';

/** How many frames the log had when the copy began; `undefined` where it has failed. */
export type CheckpointResult = { frames: number | undefined };

function serve(port: NonNullable<typeof parentPort>, { path, timeout }: CheckpointWorkerData): void {
  const connection = new DatabaseSync(path, { timeout });
  connection.exec('pragma synchronous = full');
  const copy = (): CheckpointResult => {
    try {
      // Passive: it waits for nobody, and nobody for it.
      const row = connection.prepare('pragma wal_checkpoint(passive)').get() as { log: number };
      return { frames: row.log };
    } catch {
      return { frames: undefined };
    }
  };
  port.on('message', (order: CheckpointCommand) => {
    if (order === 'copy') {
      port.postMessage(copy(), []);
      return;
    }
    connection.close();
    port.close();
  });
}

if (parentPort !== null) serve(parentPort, workerData as CheckpointWorkerData);
