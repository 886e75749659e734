import type { Severity } from '../../domain/vulnerabilities/statuses-and-severities.ts';

/**
 * Something that testers find, wherever they find it. In its texts `{place}` is what it was found in, and so on: the words
 * of the spot (see `spots.ts`).
 */
export interface Weakness {
  title: string;
  severity: Severity;
  /** Of CVSS; `null` for what has no score. */
  vector: string | null;
  category: readonly [parent: string, display: string];
  cwes: readonly string[];
  cves?: readonly string[];
  description: string;
  impact: string;
  fix: string;
  steps: readonly string[];
  /** Requests and answers, as sent. */
  http?: readonly string[];
  references: readonly string[];
}

/** A text of several lines that is indented as the code is. */
export function text(strings: TemplateStringsArray): string {
  return strings
    .join('')
    .replace(/\n[ \t]+/g, '\n')
    .trim();
}
