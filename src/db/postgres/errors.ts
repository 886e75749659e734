import { StorageError, WriteConflict } from '../engine.ts';

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** 40001 and 40P01: the engine chose this transaction to give way. */
export function isSerializationFailure(error: unknown): boolean {
  return error instanceof WriteConflict || ['40001', '40P01'].includes(codeOf(error));
}

/**
 * 23503 and 23505: a row that this unit refers to was deleted, or a name that it found free was taken, by a unit that
 * committed in between. Its second run sees that and answers by it; a violation that stays is a mistake of the unit.
 */
export function isConstraintRace(error: unknown): boolean {
  return ['23503', '23505'].includes(codeOf(error));
}

/** Whether the connection that an error came from is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|08|57P|25006)/.test(codeOf(error)) ||
    isConnectionTimeout(error) ||
    isPlanChangeError(error)
  );
}

/** 0A000: a table was altered since the connection planned the statement, which cannot be planned anew under its name. */
function isPlanChangeError(error: unknown): boolean {
  return codeOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan');
}

/** The same, as callers get it. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof StorageError && isPlanChangeError(error.cause);
}

function isConnectionTimeout(error: unknown): boolean {
  return (
    error instanceof Error && /Connection terminated|Query read timeout|not queryable/.test(error.message)
  );
}

/**
 * Connection trouble, shutdown, too many clients, timeouts, a server that no longer takes writes after a failover, and
 * old plans: none is the fault of the request.
 */
export function translatePostgresError(error: unknown): unknown {
  const unavailable =
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|08|53|57P|57014|55000|55P03|25006)/.test(
      codeOf(error),
    ) ||
    isConnectionTimeout(error) ||
    isPlanChangeError(error) ||
    (error instanceof Error &&
      /timeout exceeded when trying to connect|timeout expired|Cannot use a pool/.test(error.message));
  return unavailable ? new StorageError('The database cannot answer now.', { cause: error }) : error;
}

export function rethrowTranslated(error: unknown): never {
  throw translatePostgresError(error);
}
