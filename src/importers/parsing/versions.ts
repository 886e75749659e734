import { foldName } from '../../lib/fold-case.ts';

/** Characters of a message that are read. */
const MAX_TEXT = 16_384;

/**
 * Captures ids to keep (`CVE-2024-1`, `GHSA-…`, `SHA-1`). Also matches text to drop: the version after `package@`,
 * hashes, and versions and numbers that no letter precedes, so that `libssl1.1` and `log4j` stay names.
 */
const NAMES_AND_VERSIONS =
  /(\b[A-Z]{2,}-[\w:-]+)|(?<=[\w)])@[a-z]{0,3}\d[^\s,;@]*|\b(?=[a-f]*\d)[\da-f]{7,}\b|(?<![\p{L}\p{N}_])[vV]?\d[\w.+~:-]*/gu;

/**
 * @returns the words of a message, without versions, numbers, punctuation and case, so that an update of a package does
 *   not change the result
 */
export function withoutVersions(text: string): string {
  return foldName(
    text
      .slice(0, MAX_TEXT)
      .replace(NAMES_AND_VERSIONS, (_match, id: string | undefined) => id ?? ' ')
      .replace(/[\s.,;:()[\]<>=~^|-]+/g, ' '),
  );
}
