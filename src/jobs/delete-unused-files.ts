import { deleteUnused } from '../files/file-storage.ts';
import type { Context } from '../context.ts';
import type { JobHandler } from './runner.ts';

const HOUR = 3_600_000;

/** Deletes file contents that no row refers to, once an hour. */
export const deleteUnusedFilesJob = (context: Context): JobHandler => ({
  kind: 'delete-unused-files',
  interval: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const deleted = await deleteUnused(context, () => signal.aborted);
    if (deleted > 0) context.log.info({ removed: deleted }, 'deleted unused files');
    signal.throwIfAborted();
  },
});
