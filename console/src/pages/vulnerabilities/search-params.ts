import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { SEVERITIES, type Severity } from '../../components/severity-badge.tsx';

/** Of the list's address: its filters, its order, its columns, and the one that is open beside it. */
export type VulnerabilityListParams = VulnerabilitySearch & { columns?: string[]; open?: number };

/** A change of it; what is `undefined` goes. */
export type VulnerabilityListParamsChange = {
  [Name in keyof VulnerabilityListParams]?: VulnerabilityListParams[Name] | undefined;
};

const NUMBER_FILTERS = [
  'status_id',
  'tag_id',
  'assessment_group_id',
  'import_id',
  'gone_import_id',
  'created_by',
  'assignee_id',
  'id',
] as const;
const TEXT_FILTERS = ['tag', 'assessment_id', 'asset_uid', 'source', 'cve'] as const;
const DATE_FILTERS = ['due_until', 'updated_since', 'created_since', 'created_until'] as const;
const PHASES = ['new', 'open', 'closed'] as const;
const RETEST_STATUSES = ['requested', 'verified', 'failed', 'blocked', 'cancelled'] as const;

/** Reads the list's address; what is none of its parameters, or of the wrong kind, is left out. */
export function parseVulnerabilityListParams(given: Record<string, unknown>): VulnerabilityListParams {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const found: Record<string, unknown> = {};
  const keep = (name: string, values: readonly unknown[]) => {
    if (values.length > 0) found[name] = values;
  };
  for (const name of NUMBER_FILTERS) keep(name, list(name).map(Number).filter(Number.isInteger));
  for (const name of TEXT_FILTERS) keep(name, list(name).map(String));
  keep(
    'severity',
    list('severity').filter((value) => SEVERITIES.includes(value as Severity)),
  );
  keep(
    'phase',
    list('phase').filter((value) => PHASES.includes(value as (typeof PHASES)[number])),
  );
  keep(
    'retest',
    list('retest').filter((value) => RETEST_STATUSES.includes(value as (typeof RETEST_STATUSES)[number])),
  );
  if (typeof given.gone === 'boolean') found.gone = given.gone;
  for (const name of DATE_FILTERS) if (typeof given[name] === 'string') found[name] = given[name];
  for (const name of ['search', 'sort'] as const)
    if ((typeof given[name] === 'string' || typeof given[name] === 'number') && given[name] !== '')
      found[name] = String(given[name]);
  if (Array.isArray(given.columns)) found.columns = given.columns.map(String);
  if (Number.isInteger(given.open)) found.open = given.open;
  return found as VulnerabilityListParams;
}

/** @returns what a filter with these values is in the address */
export function toFilterParam(name: string, values: readonly string[]): VulnerabilityListParamsChange {
  // The last that was chosen: both are all.
  if (name === 'gone') return { gone: values.length === 0 ? undefined : values.at(-1) === 'true' };
  const isOne = (DATE_FILTERS as readonly string[]).includes(name);
  const value = isOne ? values[0] : values.map((one) => (isNumberFilter(name) ? Number(one) : one));
  if (values.length === 0 || value === undefined) return { [name]: undefined };
  // Those that are moments begin with the day, where one is.
  if (isOne && name !== 'due_until' && !String(value).includes('T'))
    return { [name]: new Date(`${String(value)}T00:00`).toISOString() };
  return { [name]: value };
}

/** @returns the values of a filter that an address has */
export function filterValues(address: VulnerabilityListParams, name: string): string[] {
  const value = (address as Record<string, readonly (string | number)[] | string | boolean | undefined>)[
    name
  ];
  return value === undefined ? [] : typeof value === 'object' ? value.map(String) : [String(value)];
}

const isNumberFilter = (name: string) => (NUMBER_FILTERS as readonly string[]).includes(name);

/** @returns the members that are there */
export function omitUndefined(address: Record<string, unknown>): VulnerabilityListParams {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined));
}
