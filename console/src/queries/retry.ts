import type { Query } from '@tanstack/react-query';
import { AssayError } from '../../../client/src/errors.ts';

/** Milliseconds between attempts after the first ones have failed; the delay doubles up to the maximum. */
const FIRST_DELAY = 2_000;
const MAX_DELAY = 60_000;
/** Milliseconds between the first attempts, likewise. */
const FIRST_RETRY_DELAY = 1_000;
/**
 * Multiplies the delays of this page, so that the pages that saw a server fail at the same time do not all repeat their
 * requests at the same time. Constant, because another interval would start the wait anew.
 */
const SPREAD = 0.75 + Math.random() / 2;

/** @param count attempts that have failed before */
const delayAfter = (first: number, count: number) => SPREAD * Math.min(MAX_DELAY, first * 2 ** count);

/** Whether a request that failed may succeed later: the server was unreachable, busy or failing. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof AssayError) || error.status >= 500 || error.status === 408 || error.status === 429;

/** Attempts before a failure is shown. */
export const FIRST_RETRIES = 2;

/** Whether to repeat a request before its failure is shown. The client itself repeats those that get a 429 or 503. */
export const isFirstRetry = (count: number, error: unknown): boolean =>
  !(error instanceof AssayError) && count < FIRST_RETRIES;

const hasFailed = ({ state }: Query) => state.status === 'error' && isTransient(state.error);

const retryNow = (query: Query) => (hasFailed(query) ? ('always' as const) : false);

/** Repeats failed queries while the page is visible, and at once when it becomes visible or the browser online. */
export const RETRY_FAILED = {
  retry: isFirstRetry,
  retryDelay: (count: number) => delayAfter(FIRST_RETRY_DELAY, count),
  refetchInterval: (query: Query) =>
    hasFailed(query) && delayAfter(FIRST_DELAY, query.state.errorUpdateCount - 1),
  refetchOnWindowFocus: retryNow,
  refetchOnReconnect: retryNow,
};
