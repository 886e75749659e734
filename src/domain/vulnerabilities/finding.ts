import { isIP } from 'node:net';
import { type Fault, invalid } from '../shared/failure.ts';
import { nameFault } from '../shared/names.ts';
import type { Severity } from './catalogue.ts';
import { scoreOf } from './cvss.ts';
import { type LocationInput, readLocations } from './locations.ts';

/** How it is shown, in steps that are numbered from 1. */
export interface ValidationStep {
  id: number;
  number: number;
  detail: string;
  url: string | null;
  ip_address: string | null;
  port: number | null;
  port_type: string | null;
}

export interface Category {
  parent: string;
  display: string;
}

/** What is said of a finding, as it comes; what is absent has its default. */
export interface FindingInput {
  title: string;
  severity: Severity;
  description?: string | undefined;
  /** 0 to 10, one decimal. */
  cvssScore?: number | null | undefined;
  /** Of CVSS 3.0, 3.1 or 4.0; the score follows from it. */
  cvssVector?: string | null | undefined;
  impact?: string | undefined;
  recommendedFix?: string | undefined;
  category?: Category | undefined;
  cveIds?: readonly string[] | undefined;
  cweIds?: readonly string[] | undefined;
  exploitableLocations?: readonly LocationInput[] | undefined;
  validationSteps?: readonly StepInput[] | undefined;
  httpRequests?: readonly string[] | undefined;
  referenceUrls?: readonly string[] | undefined;
}

/** Whatever else it has, its number too, is not looked at: the order numbers them. */
export interface StepInput {
  detail: string;
  url?: string | undefined;
  ip_address?: string | undefined;
  port?: number | undefined;
  port_type?: string | undefined;
}

/** The columns of a row that tell what was found; lists are JSON. */
export interface FindingColumns {
  title: string;
  severity: Severity;
  description: string;
  cvss_score: number | null;
  cvss_vector: string | null;
  impact: string;
  recommended_fix: string;
  category_parent: string;
  category_display: string;
  cve_ids: string;
  cwe_ids: string;
  exploitable_locations: string;
  location_count: number;
  validation_steps: string;
  http_requests: string;
  reference_urls: string;
}

/** The most that a finding may be in all: bytes of UTF-8. */
export const MAX_FINDING = 256 * 1024;

/**
 * Brings what is said of a finding into the form in which it is kept (docs/companions.md, section 2).
 * @throws Failure `invalid` that lists all that is wrong
 */
export function readFinding(input: FindingInput): FindingColumns {
  const faults: Fault[] = [];
  const title = nameFault('title', input.title);
  if (title !== undefined) faults.push(title);
  const score = readScore(input, faults);
  const cves = readIds('cveIds', CVE, input.cveIds ?? [], faults);
  const cwes = readIds('cweIds', CWE, input.cweIds ?? [], faults);
  const locations = readLocations(input.exploitableLocations ?? [], faults);
  const steps = readSteps(input.validationSteps ?? [], faults);
  const urls = readUrls(input.referenceUrls ?? [], faults);
  const category = input.category ?? UNCATEGORIZED;
  for (const member of ['parent', 'display'] as const) {
    const fault = nameFault(`category.${member}`, category[member]);
    if (fault !== undefined) faults.push(fault);
  }
  faults.push(...sizeFaults(input));
  if (faults.length > 0) throw invalid(faults);
  return {
    title: input.title.trim(),
    severity: input.severity,
    description: input.description ?? '',
    cvss_score: score,
    cvss_vector: input.cvssVector ?? null,
    impact: input.impact ?? '',
    recommended_fix: input.recommendedFix ?? '',
    category_parent: category.parent.trim(),
    category_display: category.display.trim(),
    cve_ids: JSON.stringify(cves),
    cwe_ids: JSON.stringify(cwes),
    exploitable_locations: JSON.stringify(locations),
    location_count: locations.length,
    validation_steps: JSON.stringify(steps),
    http_requests: JSON.stringify(input.httpRequests ?? []),
    reference_urls: JSON.stringify(urls),
  };
}

export const UNCATEGORIZED: Category = { parent: 'Uncategorized', display: 'Uncategorized' };

function readScore({ cvssScore: given, cvssVector }: FindingInput, faults: Fault[]): number | null {
  const score = given ?? undefined;
  if (score !== undefined) {
    if (!(score >= 0 && score <= 10))
      faults.push({ property: 'cvssScore', message: 'must be from 0 to 10', value: score });
    else if (Math.round(score * 10) / 10 !== score)
      faults.push({ property: 'cvssScore', message: 'must have at most one decimal', value: score });
  }
  if (cvssVector == null) return score ?? null;
  const followed = scoreOf(cvssVector);
  if (followed === undefined)
    faults.push({
      property: 'cvssVector',
      message: 'must be a vector of CVSS 3.0, 3.1 or 4.0',
      value: cvssVector,
    });
  else if (score !== undefined && score !== followed)
    faults.push({
      property: 'cvssScore',
      message: `must be ${followed}, as the vector has it`,
      value: score,
    });
  return followed ?? null;
}

/** @returns an id of a CVE as it is kept; `undefined` for what is none */
export function cveOf(text: string): string | undefined {
  const id = text.trim().toUpperCase();
  return CVE.pattern.test(id) ? id : undefined;
}

/** @returns an id of a weakness as it is kept, also of its number alone; `undefined` for what is none */
export function cweOf(text: string): string | undefined {
  const id = text
    .trim()
    .toUpperCase()
    .replace(/^(?:CWE-?)?0*(\d{1,6})$/, 'CWE-$1');
  return CWE.pattern.test(id) ? id : undefined;
}

const CVE = { pattern: /^CVE-\d{4}-\d{4,19}$/, example: 'CVE-2021-44228' };
const CWE = { pattern: /^CWE-\d{1,6}$/, example: 'CWE-79' };

function readIds(
  property: string,
  { pattern, example }: typeof CVE,
  values: readonly string[],
  faults: Fault[],
): string[] {
  const ids = new Set<string>();
  for (const [index, value] of values.entries()) {
    const id = value.trim().toUpperCase();
    if (pattern.test(id)) ids.add(id);
    else faults.push({ property: `${property}.${index}`, message: `must be such as ${example}`, value });
  }
  return [...ids];
}

function readSteps(steps: readonly StepInput[], faults: Fault[]): ValidationStep[] {
  return steps.map((step, index) => {
    const { detail, url, ip_address: address, port, port_type: portType } = step;
    if (detail.trim() === '')
      faults.push({
        property: `validationSteps.${index}.detail`,
        message: 'must not be empty',
        value: detail,
      });
    if (address !== undefined && isIP(address) === 0)
      faults.push({
        property: `validationSteps.${index}.ip_address`,
        message: 'must be an IP address',
        value: address,
      });
    return {
      id: index + 1,
      number: index + 1,
      detail,
      url: url ?? null,
      ip_address: address ?? null,
      port: port ?? null,
      port_type: portType ?? null,
    };
  });
}

function readUrls(values: readonly string[], faults: Fault[]): string[] {
  const urls = values.map((value, index) => {
    const url = value.trim();
    if (!isWebAddress(url))
      faults.push({
        property: `referenceUrls.${index}`,
        message: 'must be an http or https address',
        value,
      });
    return url;
  });
  return [...new Set(urls)];
}

export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || /\s/.test(text)) return false;
  return URL.canParse(text);
}

function sizeFaults(input: FindingInput): Fault[] {
  const sizes = Object.entries(input).map(([property, value]) => ({ property, size: bytesOf(value) }));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  if (total <= MAX_FINDING) return [];
  const [largest] = sizes.sort((one, other) => other.size - one.size);
  return [
    {
      property: largest?.property ?? 'description',
      message: `is too long: all that is said of a vulnerability is at most ${MAX_FINDING / 1024} KiB`,
    },
  ];
}

/** @returns how many bytes of UTF-8 the texts in a value have */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + bytesOf(inner), 0);
}
