import { DomainError } from './errors.ts';

/** The versions of a thing that a change wants to find there; `*` is any. */
export type ExpectedVersion = '*' | ReadonlySet<number>;

/**
 * To be called in the unit of work once the thing is held and found to be within reach, after what a role forbids and
 * before what the database refuses (docs/decided.md, section 4).
 * @param expected absent: nothing is compared
 * @throws Failure `changed` when the thing has another version
 */
export function requireVersion(expected: ExpectedVersion | undefined, version: number): void {
  if (expected === undefined || expected === '*' || expected.has(version)) return;
  throw new DomainError('version-mismatch', { code: 'version-mismatch' });
}
