import cvss from 'ae-cvss-calculator';

/** The values of each metric. Base metrics are required. */
interface Grammar {
  base: Readonly<Record<string, string>>;
  optional: Readonly<Record<string, string>>;
}

const BASE_3 = { AV: 'NALP', AC: 'LH', PR: 'NLH', UI: 'NR', S: 'UC', C: 'NLH', I: 'NLH', A: 'NLH' };
/** X: not defined. */
const OPTIONAL_3 = {
  E: 'XHFPU',
  RL: 'XUWTO',
  RC: 'XCRU',
  CR: 'XHML',
  IR: 'XHML',
  AR: 'XHML',
  MAV: 'XNALP',
  MAC: 'XLH',
  MPR: 'XNLH',
  MUI: 'XNR',
  MS: 'XUC',
  MC: 'XNLH',
  MI: 'XNLH',
  MA: 'XNLH',
};
const GRAMMAR_3: Grammar = { base: BASE_3, optional: OPTIONAL_3 };
const GRAMMAR_4: Grammar = {
  base: {
    AV: 'NALP',
    AC: 'LH',
    AT: 'NP',
    PR: 'NLH',
    UI: 'NPA',
    VC: 'HLN',
    VI: 'HLN',
    VA: 'HLN',
    SC: 'HLN',
    SI: 'HLN',
    SA: 'HLN',
  },
  optional: {
    E: 'XAPU',
    CR: 'XHML',
    IR: 'XHML',
    AR: 'XHML',
    MAV: 'XNALP',
    MAC: 'XLH',
    MAT: 'XNP',
    MPR: 'XNLH',
    MUI: 'XNPA',
    MVC: 'XHLN',
    MVI: 'XHLN',
    MVA: 'XHLN',
    MSC: 'XHLN',
    MSI: 'XSHLN',
    MSA: 'XSHLN',
    S: 'XNP',
    AU: 'XNY',
    R: 'XAUI',
    V: 'XDC',
    RE: 'XLMH',
  },
};
/** Provider Urgency (U) of CVSS 4.0 is the only metric whose values are words. */
const URGENCIES = ['X', 'Clear', 'Green', 'Amber', 'Red'];

const VERSIONS = {
  '3.0': { grammar: GRAMMAR_3, calculator: cvss.Cvss3P0 },
  '3.1': { grammar: GRAMMAR_3, calculator: cvss.Cvss3P1 },
  '4.0': { grammar: GRAMMAR_4, calculator: cvss.Cvss4P0 },
};

const MAX_VECTOR_LENGTH = 512;
/**
 * Caches scores: a report has few distinct vectors, and calculating a score takes half of the time that a finding
 * takes.
 */
const scoreCache = new Map<string, { score: number | undefined }>();
const MAX_CACHED_SCORES = 1_000;

/**
 * Calculates the score of a CVSS 3.0, 3.1 or 4.0 vector (first.org/cvss): all base metrics, each metric once, in any
 * order.
 * @returns 0 to 10 with one decimal; `undefined` for an invalid vector
 */
export function calculateCvssScore(vector: string): number | undefined {
  if (vector.length > MAX_VECTOR_LENGTH) return undefined;
  const cached = scoreCache.get(vector);
  if (cached !== undefined) return cached.score;
  const score = calculate(vector);
  if (scoreCache.size >= MAX_CACHED_SCORES) scoreCache.clear();
  scoreCache.set(vector, { score });
  return score;
}

function calculate(vector: string): number | undefined {
  const [head = '', ...metrics] = vector.split('/');
  const name = head.replace(/^CVSS:/, '');
  if (!head.startsWith('CVSS:') || !Object.hasOwn(VERSIONS, name)) return undefined;
  const version = VERSIONS[name as keyof typeof VERSIONS];
  if (!matchesGrammar(version.grammar, metrics)) return undefined;
  const { overall } = new version.calculator(vector).calculateScores(false);
  return typeof overall === 'number' && overall >= 0 && overall <= 10 ? overall : undefined;
}

function matchesGrammar(grammar: Grammar, metrics: readonly string[]): boolean {
  const names = new Set<string>();
  for (const metric of metrics) {
    const [name = '', value = '', ...extraParts] = metric.split(':');
    if (extraParts.length > 0 || names.has(name)) return false;
    names.add(name);
    if (name === 'U' && grammar === GRAMMAR_4) {
      if (!URGENCIES.includes(value)) return false;
      continue;
    }
    const values = Object.hasOwn(grammar.base, name)
      ? grammar.base[name]
      : Object.hasOwn(grammar.optional, name)
        ? grammar.optional[name]
        : undefined;
    if (values === undefined || value.length !== 1 || !values.includes(value)) return false;
  }
  return Object.keys(grammar.base).every((name) => names.has(name));
}
