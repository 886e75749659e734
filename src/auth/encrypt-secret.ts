import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Encrypts a text with AES-256-GCM under a key that is derived for the purpose (RFC 5869).
 * @param secret the deployment's, or its master key
 * @param purpose decryption fails with another purpose
 * @returns base64url
 */
export function encryptSecret(secret: Uint8Array | KeyObject, purpose: string, text: string): string {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, deriveKey(secret, purpose), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

/** @returns `undefined` if the text was encrypted with another secret or for another purpose, or was changed */
export function decryptSecret(
  secret: Uint8Array | KeyObject,
  purpose: string,
  encrypted: string,
): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < NONCE_LENGTH + TAG_LENGTH) return undefined;
  const decipher = createDecipheriv(CIPHER, deriveKey(secret, purpose), bytes.subarray(0, NONCE_LENGTH), {
    authTagLength: TAG_LENGTH,
  });
  decipher.setAuthTag(bytes.subarray(-TAG_LENGTH));
  try {
    return (
      decipher.update(bytes.subarray(NONCE_LENGTH, -TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return undefined;
  }
}

function deriveKey(secret: Uint8Array | KeyObject, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `assay ${purpose}`, 32));
}
