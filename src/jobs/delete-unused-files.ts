import type { Context } from '../runtime/context.ts';
import { deleteUnused } from '../files/file-storage.ts';
import type { JobHandler } from './runner.ts';

const HOUR = 3_600_000;

/** Takes away contents of attachments that nothing refers to, once an hour. */
export const deleteUnusedFilesJob = (context: Context): JobHandler => ({
  kind: 'unused-contents',
  interval: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const removed = await deleteUnused(context, () => signal.aborted);
    if (removed > 0) context.log.info({ removed }, 'removed contents that nothing refers to');
    signal.throwIfAborted();
  },
});
