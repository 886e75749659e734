import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'assay_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 36;
const CHECKSUM_LENGTH = 6;
const DISPLAY_LENGTH = 6;
const TOKEN_PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** @returns a new personal access token: a recognisable prefix, 214 random bits and a checksum of both */
export function newPersonalToken(): string {
  const start = PREFIX + randomText(RANDOM_LENGTH);
  return start + checksum(start);
}

/** @returns the start of a personal access token, by which its owner recognises it; too short to guess the rest */
export function displayPrefix(token: string): string {
  return token.slice(0, PREFIX.length + DISPLAY_LENGTH);
}

export function isPersonalToken(text: string): boolean {
  return (
    TOKEN_PATTERN.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

export function hasPersonalPrefix(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Letters and digits for 256 bits. */
const SECRET_LENGTH = 43;

/** @returns a new secret of 256 random bits for a session, a link, a code, a token or an OAuth client */
export function newSecret(): string {
  return randomText(SECRET_LENGTH);
}

/** @returns hexadecimal SHA-256, which suffices for random secrets */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares a secret with a hash in constant time. */
export function matchesHash(secret: string, hash: string): boolean {
  return isEqualText(hashSecret(secret), hash);
}

/** @returns random letters and digits, each equally likely */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Compares a PKCE code verifier with its S256 challenge in constant time (RFC 7636, section 4.6). */
export function matchesCodeChallenge(challenge: string, verifier: string): boolean {
  if (!CODE_VERIFIER.test(verifier)) return false;
  return isEqualText(createHash('sha256').update(verifier).digest('base64url'), challenge);
}

function isEqualText(expected: string, actual: string): boolean {
  const [expectedBytes, actualBytes] = [Buffer.from(expected), Buffer.from(actual)];
  return expectedBytes.length === actualBytes.length && timingSafeEqual(expectedBytes, actualBytes);
}
