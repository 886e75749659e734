import type { Query } from '@tanstack/react-query';
import { AssayError } from '../../../client/src/errors.ts';

/** Milliseconds between attempts after the first ones have failed; the delay doubles up to the maximum. */
const FIRST_DELAY = 2_000;
const MAX_DELAY = 60_000;
/** The same for the attempts before a failure is shown, in milliseconds. */
const FIRST_RETRY_DELAY = 1_000;
/**
 * Random factor for the delays of this page, so that the pages that lost a server do not all return at once. Constant,
 * because a changed interval would restart the wait.
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

/**
 * Retries failed queries at growing intervals while the page is visible, and immediately when the page becomes visible
 * or the browser goes online.
 */
export const RETRY_FAILED = {
  retry: isFirstRetry,
  retryDelay: (count: number) => delayAfter(FIRST_RETRY_DELAY, count),
  refetchInterval: (query: Query) =>
    hasFailed(query) && delayAfter(FIRST_DELAY, query.state.errorUpdateCount - 1),
  refetchOnWindowFocus: retryNow,
  refetchOnReconnect: retryNow,
};
