import { createHash, timingSafeEqual } from 'node:crypto';

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** @returns whether a code verifier is the one that the S256 challenge was made of (RFC 7636, section 4.6) */
export function matchesCodeChallenge(challenge: string, verifier: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const one = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const other = Buffer.from(challenge);
  return one.length === other.length && timingSafeEqual(one, other);
}
