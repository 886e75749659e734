import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { omitUndefined, parseEnum, parseIntegers, parseText, parseTexts } from '../../app/search-params.ts';
import { PHASES, RETEST_STATUSES, SEVERITIES } from '../../queries/enums.ts';

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

/** Parses the search parameters; unknown ones and values of a wrong type are dropped. */
export function parseVulnerabilityListParams(given: Record<string, unknown>): VulnerabilityListParams {
  const parsed: Record<string, unknown> = {};
  for (const name of NUMBER_FILTERS) parsed[name] = parseIntegers(given[name]);
  for (const name of TEXT_FILTERS) parsed[name] = parseTexts(given[name]);
  parsed.severity = parseEnum(given.severity, SEVERITIES);
  parsed.phase = parseEnum(given.phase, PHASES);
  parsed.retest = parseEnum(given.retest, RETEST_STATUSES);
  if (typeof given.gone === 'boolean') parsed.gone = given.gone;
  for (const name of DATE_FILTERS) if (typeof given[name] === 'string') parsed[name] = given[name];
  parsed.search = parseText(given.search);
  parsed.sort = parseText(given.sort);
  if (Array.isArray(given.columns)) parsed.columns = given.columns.map(String);
  if (Number.isInteger(given.open)) parsed.open = given.open;
  return omitUndefined(parsed);
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

const isNumberFilter = (name: string) => (NUMBER_FILTERS as readonly string[]).includes(name);
