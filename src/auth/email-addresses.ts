// Without the flag `u`, no letter outside ASCII folds to one within it.
const LOCAL_PART = /^[a-z0-9!#$&'*+\-=?^_`{|}~]+(?:\.[a-z0-9!#$&'*+\-=?^_`{|}~]+)*$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
export const MAX_EMAIL_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
const MAX_LABEL_LENGTH = 63;

/**
 * The form that e-mail addresses are compared in: lower case, without outer space (docs/decided.md, section 11). The one
 * rule for the command line, the pages, tokens and identity providers.
 * @returns it; empty for what is no address, which no account has
 */
export function normalizeEmail(text: string): string {
  const address = text.trim();
  return isAddress(address) ? address.toLowerCase() : '';
}

/** @returns whether the text is an e-mail address, as it stands */
export function isEmail(text: string): boolean {
  return text === text.trim() && isAddress(text);
}

/** @returns the host of an e-mail address, lower case; empty for what is no address */
export function emailHost(text: string): string {
  const key = normalizeEmail(text);
  return key.slice(key.indexOf('@') + 1);
}

/** @returns whether the text is the name of a host: ASCII labels, an international one as its `xn--` form */
export function isHostName(text: string): boolean {
  return text.split('.').every((label) => label.length <= MAX_LABEL_LENGTH && LABEL.test(label));
}

function isAddress(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH) return false;
  const at = text.indexOf('@');
  return (
    at > 0 && at <= MAX_LOCAL_LENGTH && LOCAL_PART.test(text.slice(0, at)) && isHostName(text.slice(at + 1))
  );
}
