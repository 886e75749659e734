import { calculateCvssScore } from '../../domain/vulnerabilities/cvss.ts';
import { memoize } from '../../lib/memoize.ts';
import type { Severity } from '../../domain/shared/statuses-and-severities.ts';

const SEVERITY_WORDS: Readonly<Record<string, Severity>> = {
  critical: 'Critical',
  crit: 'Critical',
  fatal: 'Critical',
  urgent: 'Critical',
  high: 'High',
  important: 'High',
  serious: 'High',
  severe: 'High',
  medium: 'Medium',
  moderate: 'Medium',
  med: 'Medium',
  low: 'Low',
  minor: 'Low',
  informational: 'Informational',
  information: 'Informational',
  info: 'Informational',
  none: 'Informational',
  note: 'Informational',
  log: 'Informational',
  debug: 'Informational',
  negligible: 'Informational',
};

/** Characters; longer texts are no vector. */
const MAX_VECTOR = 1_000;

/** @returns the severity that a scanner's word means, in any case; `undefined` if unknown */
export function parseSeverity(word: unknown): Severity | undefined {
  if (typeof word !== 'string' || word.length > 50) return undefined;
  const key = word.trim().toLowerCase();
  return Object.hasOwn(SEVERITY_WORDS, key) ? SEVERITY_WORDS[key] : undefined;
}

/** Rates a score from 0 to 10 like CVSS 3.1 (section 5) and 4.0. */
export function severityOfScore(score: number): Severity {
  if (score >= 9) return 'Critical';
  if (score >= 7) return 'High';
  if (score >= 4) return 'Medium';
  return score > 0 ? 'Low' : 'Informational';
}

export interface CvssEntry {
  score?: unknown;
  vector?: unknown;
  /** `3.1`; defaults to the vector's version, else to 3.1, and to 3.0 without a vector. */
  version?: unknown;
}

/**
 * Picks the best of several CVSS values: 4.0 before 3.1, 3.0 and 2.0, with a vector before without, then the higher
 * score. CVSS 2.0 keeps only the score. Ignores invalid values.
 */
export function bestCvss(entries: readonly CvssEntry[]): { cvssScore?: number; cvssVector?: string } {
  let best: { version: number; score: number; vector?: string } | undefined;
  for (const entry of entries) {
    const rating = parseRating(entry);
    if (rating !== undefined && (best === undefined || isBetter(rating, best))) best = rating;
  }
  if (best === undefined) return {};
  return { cvssScore: best.score, ...(best.vector === undefined ? {} : { cvssVector: best.vector }) };
}

type ParsedRating = { version: number; score: number; vector?: string };

function isBetter(one: ParsedRating, other: ParsedRating): boolean {
  if (one.version !== other.version) return one.version > other.version;
  if ((one.vector === undefined) !== (other.vector === undefined)) return one.vector !== undefined;
  return one.score > other.score;
}

/**
 * Completes a vector that a tool writes without its prefix, in brackets, or with a prefix of its own (`CVSS3#`). The
 * metrics tell the version: only 4.0 has `VC`, and 2.0 has no `PR`.
 */
function completeVector({ vector, version }: { vector: string; version: unknown }): string {
  if (vector.length > MAX_VECTOR) return '';
  const text = vector.trim().replace(/^\(|[)/]{1,5}$/g, '');
  if (/^CVSS:[34]\.\d\//.test(text)) return text;
  const metrics = text.replace(/^CVSS[:#]?[\d.]{0,5}[#/]/i, '');
  if (!metrics.startsWith('AV:')) return text;
  if (metrics.includes('/VC:')) return `CVSS:4.0/${metrics}`;
  if (!metrics.includes('/PR:')) return text;
  return `CVSS:${String(version).startsWith('3.0') ? '3.0' : '3.1'}/${metrics}`;
}

function vectorOf(vector: string, version: unknown): string {
  const isComplete = (vector.startsWith('CVSS:3') || vector.startsWith('CVSS:4')) && !vector.endsWith('/');
  return isComplete ? vector.trim() : cachedVector({ vector, version });
}

/** Reports repeat the same few vectors. */
const cachedVector = memoize(completeVector, ({ vector, version }) => `${String(version)} ${vector}`, 5_000);

function parseRating({ score, vector, version }: CvssEntry): ParsedRating | undefined {
  const text = typeof vector === 'string' ? vectorOf(vector, version) : '';
  const vectorScore = calculateCvssScore(text);
  if (vectorScore !== undefined)
    return { version: Number(text.slice(5, 8)), score: vectorScore, vector: text };
  const number = typeof score === 'string' && score.trim() !== '' ? Number(score) : score;
  if (typeof number !== 'number' || !(number >= 0 && number <= 10)) return undefined;
  const isVersion2 = /^(?:\(|CVSS:?2)?.{0,8}\bAV:[LAN]\/AC:[LMH]\/Au:/.test(text.slice(0, 100));
  const statedVersion = Number.parseFloat(
    typeof version === 'string' ? version.replace(/^\D+/, '') : String(version as number),
  );
  return {
    version: isVersion2 ? 2 : statedVersion >= 2 && statedVersion <= 4 ? statedVersion : 3,
    score: Math.round(number * 10) / 10,
  };
}
