import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { SEVERITIES, type Severity } from '../../components/severity-badge.tsx';

/** Search parameters of the list: filters, sort order, columns and the previewed vulnerability. */
export type VulnerabilityListParams = VulnerabilitySearch & { columns?: string[]; open?: number };

/** `undefined` removes a parameter. */
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

/** Parses the search parameters; unknown ones and values of a wrong type are dropped. */
export function parseVulnerabilityListParams(given: Record<string, unknown>): VulnerabilityListParams {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const parsed: Record<string, unknown> = {};
  const set = (name: string, values: readonly unknown[]) => {
    if (values.length > 0) parsed[name] = values;
  };
  for (const name of NUMBER_FILTERS) set(name, list(name).map(Number).filter(Number.isInteger));
  for (const name of TEXT_FILTERS) set(name, list(name).map(String));
  set(
    'severity',
    list('severity').filter((value) => SEVERITIES.includes(value as Severity)),
  );
  set(
    'phase',
    list('phase').filter((value) => PHASES.includes(value as (typeof PHASES)[number])),
  );
  set(
    'retest',
    list('retest').filter((value) => RETEST_STATUSES.includes(value as (typeof RETEST_STATUSES)[number])),
  );
  if (typeof given.gone === 'boolean') parsed.gone = given.gone;
  for (const name of DATE_FILTERS) if (typeof given[name] === 'string') parsed[name] = given[name];
  for (const name of ['search', 'sort'] as const)
    if ((typeof given[name] === 'string' || typeof given[name] === 'number') && given[name] !== '')
      parsed[name] = String(given[name]);
  if (Array.isArray(given.columns)) parsed.columns = given.columns.map(String);
  if (Number.isInteger(given.open)) parsed.open = given.open;
  return parsed as VulnerabilityListParams;
}

/** Converts the values of a filter to its search parameter. */
export function toFilterParam(name: string, values: readonly string[]): VulnerabilityListParamsChange {
  // Yes and no together would match everything: the last choice wins.
  if (name === 'gone') return { gone: values.length === 0 ? undefined : values.at(-1) === 'true' };
  const isOne = (DATE_FILTERS as readonly string[]).includes(name);
  const value = isOne ? values[0] : values.map((one) => (isNumberFilter(name) ? Number(one) : one));
  if (values.length === 0 || value === undefined) return { [name]: undefined };
  // Timestamps start at midnight in the user's time zone.
  if (isOne && name !== 'due_until' && !String(value).includes('T'))
    return { [name]: new Date(`${String(value)}T00:00`).toISOString() };
  return { [name]: value };
}

/** Returns the values of a filter in the search parameters. */
export function filterValues(address: VulnerabilityListParams, name: string): string[] {
  const value = (address as Record<string, readonly (string | number)[] | string | boolean | undefined>)[
    name
  ];
  return value === undefined ? [] : typeof value === 'object' ? value.map(String) : [String(value)];
}

const isNumberFilter = (name: string) => (NUMBER_FILTERS as readonly string[]).includes(name);

export function omitUndefined(address: Record<string, unknown>): VulnerabilityListParams {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined));
}
