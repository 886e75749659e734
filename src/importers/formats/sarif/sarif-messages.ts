import type { ReportedFinding } from '../../report.ts';
import { webOriginOf } from '../../targets.ts';

/** Findings whose message is remembered. */
const MAX_FINDINGS = 200_000;

/** Tells which results are instances of a finding that has another message, because a finding has one description. */
export class SarifMessages {
  /** Digests of messages by those of identities. */
  readonly #first = new Map<number, number>();

  /** @returns whether the first result of the same finding has another message, or may have one */
  isOther(finding: ReportedFinding, message: string): boolean {
    const identity = digest(keyOf(finding));
    const text = digest(message);
    const first = this.#first.get(identity);
    if (first !== undefined) return first !== text;
    if (this.#first.size >= MAX_FINDINGS) return true;
    this.#first.set(identity, text);
    return false;
  }
}

/** Has what the identity has, which takes longer to compute. */
function keyOf({ source, rule, fingerprint, locationKey, target }: ReportedFinding): string {
  if (fingerprint !== undefined) return `${source ?? ''}\n${fingerprint}`;
  const origin = target !== undefined && 'url' in target ? (webOriginOf(target.url) ?? target.url) : '';
  return `${source ?? ''}\n${rule}\n${origin}\n${locationKey ?? ''}`;
}

/** Hashes a text to 53 bits, in a fraction of the time of a cryptographic hash. */
function digest(text: string): number {
  let low = 0x9e3779b1;
  let high = 0x5f356495;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x85ebca77);
    high = Math.imul(high ^ code, 0xc2b2ae3d);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}
