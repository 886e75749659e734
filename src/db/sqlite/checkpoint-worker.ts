import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';

export interface CheckpointWorkerData {
  path: string;
  timeout: number;
}

export type CheckpointCommand = 'copy' | 'end';

/** How many frames the write-ahead log had when the checkpoint began; `undefined` if it failed. */
export type CheckpointResult = { frames: number | undefined };

/** Copies the write-ahead log into the database file, on a connection of its own. */
function serve(port: NonNullable<typeof parentPort>, { path, timeout }: CheckpointWorkerData): void {
  const connection = new DatabaseSync(path, { timeout });
  connection.exec('pragma synchronous = full');
  const copy = (): CheckpointResult => {
    try {
      // Passive: blocks no reader or writer, and waits for none.
      const row = connection.prepare('pragma wal_checkpoint(passive)').get() as { log: number };
      return { frames: row.log };
    } catch {
      return { frames: undefined };
    }
  };
  port.on('message', (command: CheckpointCommand) => {
    if (command === 'copy') {
      port.postMessage(copy(), []);
      return;
    }
    connection.close();
    port.close();
  });
}

if (parentPort !== null) serve(parentPort, workerData as CheckpointWorkerData);
