import type { AssessmentSearch } from '../queries/assessments.ts';
import {
  ASSESSMENT_STATES,
  ASSET_TYPES,
  CRITICALITIES,
  IMPORT_STATES,
  PHASES,
  RETEST_STATUSES,
  SEVERITIES,
} from '../queries/enums.ts';
import { type Grouping, GROUPINGS } from '../queries/grouped-vulnerabilities.ts';
import type { AssetSearch } from '../queries/assets.ts';
import type { GroupSearch } from '../queries/groups.ts';
import type { ImportSearch } from '../queries/imports.ts';
import type { PeopleSearch, PersonState } from '../queries/people.ts';
import type { TagKind } from '../queries/tags.ts';
import type { VulnerabilitySearch } from '../queries/vulnerabilities.ts';

// The router parses search parameters as JSON: a value of digits arrives as a number, a list of one value as the value.

type Defined<Params> = { [Name in keyof Params]?: Exclude<Params[Name], undefined> };

export function omitUndefined<Params extends object>(params: Params): Defined<Params> {
  return Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined),
  ) as Defined<Params>;
}

const toArray = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());
const undefinedIfEmpty = <Value>(values: Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : values;

/** @returns the text; undefined if it is empty or has another type */
export const parseText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/** @returns the values as texts; undefined if there are none */
const parseTexts = (value: unknown): string[] | undefined => undefinedIfEmpty(toArray(value).map(String));

/** @returns the integers among the values; undefined if there are none */
const parseIntegers = (value: unknown): number[] | undefined =>
  undefinedIfEmpty(toArray(value).map(Number).filter(Number.isInteger));

/** @returns the values that are allowed; undefined if there are none */
const parseEnum = <Value extends string>(value: unknown, allowed: readonly Value[]): Value[] | undefined =>
  undefinedIfEmpty(toArray(value).filter((item): item is Value => allowed.includes(item as Value)));

/** @returns the values of a parameter, as the filter bar shows them */
export const filterValues = (params: object, name: string): string[] =>
  toArray((params as Record<string, unknown>)[name]).map(String);

const TABS = ['vulnerabilities', 'assets', 'hours', 'imports', 'people'] as const;
export type AssessmentTab = (typeof TABS)[number];

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssessmentSearch(search: Record<string, unknown>): AssessmentSearch {
  // The API filters by one group at most: the last selected one wins.
  const group = parseIntegers(search.assessment_group_id)?.at(-1) ?? 0;
  return omitUndefined({
    state: parseEnum(search.state, ASSESSMENT_STATES),
    tag_id: parseIntegers(search.tag_id),
    assessment_group_id: group > 0 ? group : undefined,
    organization_uid: parseTexts(search.organization_uid),
    search: parseText(search.search),
    sort: parseText(search.sort),
  });
}

/** Parses the page's search parameters: the selected tab, and which findings it shows. */
export const parseAssessmentTab = ({
  show,
  phase,
  draft,
}: Record<string, unknown>): { show?: AssessmentTab } & Pick<VulnerabilitySearch, 'phase' | 'draft'> =>
  omitUndefined({
    show: parseEnum(show, TABS)?.[0],
    phase: parseEnum(phase, PHASES),
    draft: draft === true ? true : undefined,
  });

const SORTS = /^-?(location|createdAt|updatedAt|lastSeen|criticality|vulnerabilityCount)$/;

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssetSearch(search: Record<string, unknown>): AssetSearch {
  const ports = parseIntegers(search.portNumber)?.filter(isPortNumber) ?? [];
  return omitUndefined({
    assetType: parseEnum(search.assetType, ASSET_TYPES),
    criticality: parseEnum(search.criticality, CRITICALITIES),
    tagUid: parseTexts(search.tagUid),
    listingUid: parseTexts(search.listingUid),
    organizationUid: parseTexts(search.organizationUid),
    ipRange: parseTexts(search.ipRange),
    portNumber: ports.length === 0 ? undefined : ports,
    search: parseText(search.search),
    sort: typeof search.sort === 'string' && SORTS.test(search.sort) ? search.sort : undefined,
  });
}

export const isPortNumber = (number: number) => Number.isInteger(number) && number >= 0 && number <= 65_535;

/** Search parameters of the audit log: filters as in the API, and days in the browser's time zone. */
export interface AuditSearch {
  action?: string[];
  object_type?: string;
  object_id?: string;
  user_id?: number;
  request_id?: string;
  /** The first day: `2026-11-20`. */
  since?: string;
  /** The last day. */
  until?: string;
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

/** Parses the search parameters of the audit log and ignores invalid ones. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const actions = [search.action ?? []].flat().filter((action) => typeof action === 'string');
  return omitUndefined({
    action: actions.length === 0 ? undefined : actions,
    object_type: parseText(search.object_type),
    object_id: parseText(search.object_id),
    request_id: parseText(search.request_id),
    since: isDay(search.since) ? search.since : undefined,
    until: isDay(search.until) ? search.until : undefined,
    user_id: Number.isInteger(search.user_id) ? Number(search.user_id) : undefined,
  });
}

/** A change of search parameters; `undefined` removes one. */
export type AuditSearchChange = { [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined };

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseGroupSearch({ search, organization_uid }: Record<string, unknown>): GroupSearch {
  return omitUndefined({ search: parseText(search), organization_uid: parseTexts(organization_uid) });
}

/** Parses the search parameters of the list and ignores invalid ones. */
export function parseImportSearch(search: Record<string, unknown>): ImportSearch {
  return omitUndefined({
    state: parseEnum(search.state, IMPORT_STATES),
    assessment_id: parseTexts(search.assessment_id),
    organization_uid: parseTexts(search.organization_uid),
    dry_runs: search.dry_runs === true ? true : undefined,
  });
}

export const PERSON_STATES: readonly PersonState[] = ['active', 'invited', 'banned'];

/** Parses the search parameters of the list and ignores invalid ones. */
export function parsePeopleSearch(search: Record<string, unknown>): PeopleSearch {
  return omitUndefined({
    search: parseText(search.search),
    // A person has only one state: the last selected one wins.
    state: parseEnum(search.state, PERSON_STATES)?.at(-1),
    organization_uid: parseTexts(search.organization_uid),
  });
}

/** Search parameters of the tags page. */
export interface TagsSearch {
  kind?: TagKind;
  search?: string;
  /** Uid of the organization, set by staff. */
  organization?: string;
}

const TAG_KINDS: readonly TagKind[] = ['vulnerability', 'assessment', 'asset'];

/** Parses the search parameters of the page and ignores invalid ones. */
export function parseTagsSearch({ kind, search, organization }: Record<string, unknown>): TagsSearch {
  return omitUndefined({
    kind: parseEnum(kind, TAG_KINDS)?.[0],
    search: parseText(search),
    organization: parseText(organization),
  });
}

/** Search parameters of the list: filters, sort order, grouping, columns and the previewed vulnerability. */
export type VulnerabilityListParams = VulnerabilitySearch & {
  group?: Grouping;
  columns?: string[];
  open?: number;
};

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
const TEXT_FILTERS = ['tag', 'assessment_id', 'asset_uid', 'source', 'cve', 'organization_uid'] as const;
const DATE_FILTERS = ['due_until', 'updated_since', 'created_since', 'created_until'] as const;

/** Parses the search parameters; unknown ones and values of a wrong type are dropped. */
export function parseVulnerabilityListParams(search: Record<string, unknown>): VulnerabilityListParams {
  const parsed: Record<string, unknown> = {};
  for (const name of NUMBER_FILTERS) parsed[name] = parseIntegers(search[name]);
  for (const name of TEXT_FILTERS) parsed[name] = parseTexts(search[name]);
  parsed.severity = parseEnum(search.severity, SEVERITIES);
  parsed.phase = parseEnum(search.phase, PHASES);
  parsed.retest = parseEnum(search.retest, RETEST_STATUSES);
  if (typeof search.gone === 'boolean') parsed.gone = search.gone;
  if (search.draft === true) parsed.draft = true;
  for (const name of DATE_FILTERS) if (typeof search[name] === 'string') parsed[name] = search[name];
  parsed.search = parseText(search.search);
  parsed.sort = parseText(search.sort);
  parsed.group = parseEnum(search.group, GROUPINGS)?.[0];
  if (Array.isArray(search.columns)) parsed.columns = search.columns.map(String);
  if (Number.isInteger(search.open)) parsed.open = search.open;
  return omitUndefined(parsed);
}

/** Converts the values of a filter to its search parameter. */
export function toFilterParam(name: string, values: readonly string[]): VulnerabilityListParamsChange {
  // Yes and no together would match everything: the last choice wins.
  if (name === 'gone') return { gone: values.length === 0 ? undefined : values.at(-1) === 'true' };
  const isOne = (DATE_FILTERS as readonly string[]).includes(name);
  const value = isOne ? values[0] : values.map((item) => (isNumberFilter(name) ? Number(item) : item));
  if (values.length === 0 || value === undefined) return { [name]: undefined };
  // Timestamps start at midnight in the user's time zone.
  if (isOne && name !== 'due_until' && !String(value).includes('T'))
    return { [name]: new Date(`${String(value)}T00:00`).toISOString() };
  return { [name]: value };
}

const isNumberFilter = (name: string) => (NUMBER_FILTERS as readonly string[]).includes(name);
