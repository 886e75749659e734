// Lacks the flag `u`, with which letters outside ASCII could match letters within it.
const LOCAL_PART = /^[a-z0-9!#$&'*+\-=?^_`{|}~]+(?:\.[a-z0-9!#$&'*+\-=?^_`{|}~]+)*$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
export const MAX_EMAIL_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
const MAX_LABEL_LENGTH = 63;

/**
 * Normalizes an email address for comparison: lower case, without surrounding space. The command line, pages, tokens
 * and identity providers all use this rule.
 * @returns an empty string for an invalid address, which no account has
 */
export function normalizeEmail(text: string): string {
  const address = text.trim();
  return isAddress(address) ? address.toLowerCase() : '';
}

/** Whether the text is an email address, without surrounding space. */
export function isEmail(text: string): boolean {
  return text === text.trim() && isAddress(text);
}

/** @returns the host of an email address in lower case; empty for an invalid address */
export function emailHost(text: string): string {
  const key = normalizeEmail(text);
  return key.slice(key.indexOf('@') + 1);
}

/** Whether the text is a host name in ASCII, internationalized labels in their `xn--` form. */
export function isHostName(text: string): boolean {
  return text.split('.').every((label) => label.length <= MAX_LABEL_LENGTH && LABEL.test(label));
}

function isAddress(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH) return false;
  const atSign = text.indexOf('@');
  return (
    atSign > 0 &&
    atSign <= MAX_LOCAL_LENGTH &&
    LOCAL_PART.test(text.slice(0, atSign)) &&
    isHostName(text.slice(atSign + 1))
  );
}
