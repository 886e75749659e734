import { DomainError } from './errors.ts';

/** The versions that a change expects; `*` is any. */
export type ExpectedVersion = '*' | ReadonlySet<number>;

/**
 * Call this in the transaction once the row is locked and visible, after checks of permissions and before those of
 * other data (docs/decided.md, section 4).
 * @param expected absent: any version
 * @throws DomainError `version-mismatch`
 */
export function requireVersion(expected: ExpectedVersion | undefined, version: number): void {
  if (expected === undefined || expected === '*' || expected.has(version)) return;
  throw new DomainError('version-mismatch');
}
