import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'assay_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 36;
const CHECKSUM_LENGTH = 6;
const DISPLAY_LENGTH = 6;
const TOKEN_PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** @returns a new personal access token: a recognisable prefix, 214 random bits, and a checksum of both */
export function newPersonalToken(): string {
  const start = PREFIX + randomText(RANDOM_LENGTH);
  return start + checksum(start);
}

/** @returns how a personal access token begins, by which its owner knows it again: too little to guess the rest */
export function displayPrefix(token: string): string {
  return token.slice(0, PREFIX.length + DISPLAY_LENGTH);
}

/** @returns whether the text can be a personal access token at all, judged by its form and checksum alone */
export function isPersonalToken(text: string): boolean {
  return (
    TOKEN_PATTERN.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

/** @returns whether the text claims to be one */
export function hasPersonalPrefix(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** 256 bits in letters and digits. */
const SECRET_LENGTH = 43;

/** @returns a new secret of 256 random bits: of a session, a link, a code, a token or an application */
export function newSecret(): string {
  return randomText(SECRET_LENGTH);
}

/** @returns SHA-256, hexadecimal: enough for a secret that is random itself */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** @returns whether a secret has this hash, in a time that does not tell how much of it is right */
export function matchesHash(secret: string, hash: string): boolean {
  const one = Buffer.from(hashSecret(secret));
  const other = Buffer.from(hash);
  return one.length === other.length && timingSafeEqual(one, other);
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
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
