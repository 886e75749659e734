import { describe, expect, it } from 'vitest';
import { hashPassword, PasswordQueueFull, verifyPassword } from '../../src/auth/passwords.ts';

describe('Password hashing', () => {
  it('limits the queue, and recovers', async () => {
    expect(await verifyPassword(null, 'makes what unknown accounts are compared with')).toBe(false);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) => verifyPassword(null, `guess number ${index}`)),
    );
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
    // The queue, plus one for each processor but one.
    expect(outcomes.length - rejected.length).toBeGreaterThan(64);
    expect(rejected.length).toBeGreaterThan(100);
    for (const { reason } of rejected) expect(reason).toBeInstanceOf(PasswordQueueFull);
    expect(await verifyPassword(await hashPassword('a good pass phrase'), 'a good pass phrase')).toBe(true);
  });
});
