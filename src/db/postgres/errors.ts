import { StorageError } from '../database.ts';

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** 40001 and 40P01: the server aborted this transaction in favour of another. */
export function isSerializationFailure(error: unknown): boolean {
  return (
    (error instanceof StorageError && error.code === 'conflict') || ['40001', '40P01'].includes(codeOf(error))
  );
}

/**
 * 23503 and 23505: a transaction committed in the meantime deleted a row that this one refers to, or inserted a name
 * that this one found free. A retry sees the change. If the violation persists, it is a bug in the transaction.
 */
export function isConstraintRace(error: unknown): boolean {
  return ['23503', '23505'].includes(codeOf(error));
}

/** Whether the error makes its connection unusable. */
export function isConnectionLost(error: unknown): boolean {
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|08|57P|25006)/.test(codeOf(error)) ||
    isConnectionTimeout(error) ||
    isPlanChangeError(error)
  );
}

/** 0A000: a table was altered after the connection prepared the statement; the name cannot be prepared again. */
function isPlanChangeError(error: unknown): boolean {
  return codeOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan');
}

/** Whether a translated error makes its connection unusable. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof StorageError && isPlanChangeError(error.cause);
}

function isConnectionTimeout(error: unknown): boolean {
  return (
    error instanceof Error && /Connection terminated|Query read timeout|not queryable/.test(error.message)
  );
}

/**
 * Turns connection failures, shutdowns, too many clients, timeouts, a server that became read-only in a failover, and
 * stale plans into a `StorageError`.
 */
export function translatePostgresError(error: unknown): unknown {
  const isUnavailable =
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|08|53|57P|57014|55000|55P03|25006)/.test(
      codeOf(error),
    ) ||
    isConnectionTimeout(error) ||
    isPlanChangeError(error) ||
    (error instanceof Error &&
      /timeout exceeded when trying to connect|timeout expired|Cannot use a pool/.test(error.message));
  return isUnavailable
    ? new StorageError('unavailable', 'The database is not available.', { cause: error })
    : error;
}

export function rethrowTranslated(error: unknown): never {
  throw translatePostgresError(error);
}
