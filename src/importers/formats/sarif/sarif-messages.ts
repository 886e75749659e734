import type { ReportedFinding } from '../../report.ts';
import { webOriginOf } from '../../targets.ts';

/** Characters of identities and messages that are remembered. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Detects results whose message differs from that of the first result of the same finding: a finding has one
 * description.
 */
export class SarifMessages {
  /** Messages by identity. */
  readonly #first = new Map<string, string>();
  #characters = 0;

  /** @returns whether the first result of the same finding has another message, or may have one */
  isOther(finding: ReportedFinding, message: string): boolean {
    const key = keyOf(finding);
    const first = this.#first.get(key);
    if (first !== undefined) return first !== message;
    this.#characters += key.length + message.length;
    if (this.#characters > MAX_CHARACTERS) return true;
    this.#first.set(key, message);
    return false;
  }
}

/** Builds a key that differs wherever the identity differs. Hashing the identity itself takes longer. */
function keyOf({ source, rule, fingerprint, locationKey, target }: ReportedFinding): string {
  if (fingerprint !== undefined) return `${source ?? ''}\n${fingerprint}`;
  const origin = target !== undefined && 'url' in target ? (webOriginOf(target.url) ?? target.url) : '';
  return `${source ?? ''}\n${rule}\n${origin}\n${locationKey ?? ''}`;
}
