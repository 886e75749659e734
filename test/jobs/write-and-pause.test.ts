import { describe, expect, it, vi } from 'vitest';
import { pauseUnlessAborted, writeAndPause } from '../../src/jobs/write-and-pause.ts';
import { useSharedServer } from '../harness/server.ts';

const server = await useSharedServer();

/** Longer than any test may take. */
const DAY = 86_400_000;

describe('A pause between transactions', () => {
  it('ends at once when the job is stopped', async () => {
    await expect(pauseUnlessAborted(DAY, AbortSignal.abort())).resolves.toBeUndefined();
    const stopping = new AbortController();
    const pause = pauseUnlessAborted(DAY, stopping.signal);
    stopping.abort();
    await expect(pause).resolves.toBeUndefined();
  });

  it('lasts as long as the transaction', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const pauses: number[] = [];
      const transaction = async () => void vi.advanceTimersByTime(40);
      await writeAndPause(server.context.db, transaction, new AbortController().signal, async (duration) => {
        pauses.push(duration);
      });
      expect(pauses).toEqual([40]);
    } finally {
      vi.useRealTimers();
    }
  });
});
