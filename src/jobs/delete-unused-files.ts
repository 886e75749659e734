import type { Context } from '../runtime/context.ts';
import { removeUnused } from '../files/file-storage.ts';
import type { JobKind } from './runner.ts';

const HOUR = 3_600_000;

/** Takes away contents of attachments that nothing refers to, once an hour. */
export const unusedContents = (context: Context): JobKind => ({
  kind: 'unused-contents',
  every: HOUR,
  maxAttempts: 3,
  async run({ signal }) {
    const removed = await removeUnused(context, () => signal.aborted);
    if (removed > 0) context.log.info({ removed }, 'removed contents that nothing refers to');
    signal.throwIfAborted();
  },
});
