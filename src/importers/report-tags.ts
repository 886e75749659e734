import { replaceControlCharacters, validateName } from '../domain/shared/names.ts';
import type { SourceLocation } from './report.ts';
import type { SkipCounter } from './skip-counter.ts';
import { foldName } from '../lib/fold-case.ts';

/** Distinct names per report, and per finding: each becomes a tag of the organization. */
const MAX_NAMES = 200;
const MAX_PER_FINDING = 50;

/** Limits the tags that a report may create. */
export class ReportTags {
  readonly #names = new Set<string>();

  /** @returns the valid names within the limits; others are counted */
  take(names: readonly string[], skips: SkipCounter, at: SourceLocation | undefined): string[] {
    const taken = names.slice(0, MAX_PER_FINDING).flatMap((text) => {
      const name = replaceControlCharacters(text).trim();
      const key = foldName(name);
      if (validateName('tag', name) !== undefined) return [];
      if (!this.#names.has(key) && this.#names.size >= MAX_NAMES) return [];
      this.#names.add(key);
      return name;
    });
    if (taken.length < names.length) skips.add('tag not imported', at, false);
    return [...new Set(taken)];
  }
}
