import { hash } from 'node:crypto';

/** Findings whose message is remembered. */
const MAX_FINDINGS = 100_000;

/** Tells which results are instances of a finding that has another message, because a finding has one description. */
export class SarifMessages {
  /** By identity, the hash of the message. */
  readonly #first = new Map<string, string>();

  /** @returns whether the first result with this identity has another message, or may have one */
  isOther(identity: string, message: string): boolean {
    const text = hash('sha1', message, 'base64url');
    const first = this.#first.get(identity);
    if (first !== undefined) return first !== text;
    if (this.#first.size >= MAX_FINDINGS) return true;
    this.#first.set(identity, text);
    return false;
  }
}
