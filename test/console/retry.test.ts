import type { Query } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { AssayError } from '../../client/src/errors.ts';
import { isTransient, RETRY_FAILED } from '../../console/src/queries/retry.ts';

const failed = (status: number) => new AssayError(new Response(null, { status }), undefined);

const queryWith = (state: Partial<Query['state']>) => ({ state }) as Query;

const interval = (error: Error, errorUpdateCount = 1) =>
  RETRY_FAILED.refetchInterval(queryWith({ status: 'error', error, errorUpdateCount }));

describe('Failed queries', () => {
  it.each([400, 401, 403, 404, 409, 413, 422])('are not repeated after %i', (status) => {
    expect(isTransient(failed(status))).toBe(false);
    expect(RETRY_FAILED.retry(0, failed(status))).toBe(false);
    expect(interval(failed(status))).toBe(false);
    const query = queryWith({ status: 'error', error: failed(status) });
    expect([RETRY_FAILED.refetchOnWindowFocus(query), RETRY_FAILED.refetchOnReconnect(query)]).toEqual([
      false,
      false,
    ]);
  });

  it.each([408, 429, 500, 502, 503, 504])('are repeated after %i', (status) => {
    expect(interval(failed(status))).toBeGreaterThan(0);
  });

  it('are repeated less and less often, each page at its own times', () => {
    const delays = Array.from({ length: 20 }, (_, index) => interval(new TypeError('fetch'), index + 1));
    const spread = Number(delays[0]) / 2_000;
    expect(spread).toBeGreaterThanOrEqual(0.75);
    expect(spread).toBeLessThan(1.25);
    expect(delays).toEqual(
      delays.map((_, index) => expect.closeTo(spread * Math.min(60_000, 2_000 * 2 ** index))),
    );
    // Another interval would start the wait anew.
    expect(interval(new TypeError('fetch'), 3)).toBe(delays[2]);
    expect(RETRY_FAILED.retryDelay(1)).toBeCloseTo(2_000 * spread);
  });

  it('that have succeeded since are left alone', () => {
    const query = queryWith({ status: 'success', error: null, errorUpdateCount: 3 });
    expect(RETRY_FAILED.refetchInterval(query)).toBe(false);
  });
});
