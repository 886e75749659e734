import { useQuery } from '@tanstack/react-query';
import { api, AssayError } from '../../queries/client.ts';
import { findAssessments, loadAssessmentName } from '../../queries/assessments.ts';
import { findGroups } from '../../queries/groups.ts';
import { statusesQuery } from '../../queries/vulnerabilities.ts';
import { type FilterDefinition, useOrganizationFilter } from '../../components/filter-definition.ts';
import { IMPORT_FORMATS, RETEST_STATUSES, SEVERITIES } from '../../queries/enums.ts';
import { statusName } from '../../queries/statuses.ts';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';

/** Options per search; typing more finds the others. */
const MAX_OPTIONS = 20;

const capitalizedOptions = (values: readonly string[]) =>
  values.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }));

/** `manual` and the report formats. SARIF findings have the tool's name as their source, which users type. */
const SOURCES = ['manual', ...IMPORT_FORMATS.filter((format) => format !== 'auto' && format !== 'sarif')];

const optionOf = (value: string) => ({ value, label: value });

/** Admins find all users; other users find only themselves. */
async function findPeopleOptions(search: string, signal: AbortSignal) {
  const { data: user } = await api.GET('/v1/users/whoami', { signal });
  const ownOption = { value: String(user.id), label: messages.filters.you(user.name ?? user.email) };
  if (!user.admin) return [ownOption];
  const { data } = await api.GET('/v1/users', {
    params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
    signal,
  });
  const otherPeople = data.filter(({ id }) => id !== user.id);
  return [
    ownOption,
    ...otherPeople.map(({ id, name, email }) => ({ value: String(id), label: name ?? email })),
  ];
}

async function loadPersonName(value: string, signal: AbortSignal): Promise<string> {
  try {
    const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(value) } }, signal });
    return data.name ?? data.email;
  } catch (error) {
    // Users who may not read other users still see the filter.
    if (error instanceof AssayError) return messages.filters.unknownUser(value);
    throw error;
  }
}

const IMPORT_OPTIONS: Omit<FilterDefinition, 'name' | 'label'> = {
  async options(search, signal) {
    // Dry runs create no vulnerabilities, and every uploaded report leaves some.
    const query = { 'filter[dry_run]': false, 'page[size]': 200 };
    const { data } = await api.GET('/v1/imports', { params: { query }, signal });
    const term = search.toLowerCase();
    return data
      .map(({ id, file }) => ({ value: String(id), label: `${file.filename} (#${id})` }))
      .filter(({ label }) => label.toLowerCase().includes(term))
      .slice(0, MAX_OPTIONS);
  },
  loadLabel: async (value, signal) =>
    (await api.GET('/v1/imports/{id}', { params: { path: { id: Number(value) } }, signal })).data.file
      .filename,
  placeholder: messages.filters.importHint,
};

const SEARCHABLE_FILTERS: readonly FilterDefinition[] = [
  {
    name: 'assessment_id',
    label: 'Assessment',
    options: findAssessments,
    loadLabel: loadAssessmentName,
  },
  {
    name: 'tag',
    label: 'Tag',
    async options(search, signal) {
      const { data } = await api.GET('/v1/vulnerability_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
        signal,
      });
      return data.map(({ name }) => ({ value: name, label: name }));
    },
  },
  {
    name: 'asset_uid',
    label: 'Asset',
    async options(search, signal) {
      const { data } = await api.GET('/api/asset/v2/assets', {
        params: { query: { search, perPage: MAX_OPTIONS } },
        signal,
      });
      return data.map(({ uid, location }) => ({ value: uid, label: location ?? uid }));
    },
    loadLabel: async (value, signal) =>
      (await api.GET('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: value } }, signal }))
        .data.location ?? value,
  },
  {
    name: 'assessment_group_id',
    label: 'Group',
    options: findGroups,
    loadLabel: async (value, signal) =>
      (await api.GET('/v1/assessment_groups/{id}', { params: { path: { id: Number(value) } }, signal })).data
        .name,
  },
  { name: 'assignee_id', label: 'Assignee', options: findPeopleOptions, loadLabel: loadPersonName },
  {
    name: 'created_by',
    label: messages.filters.reportedBy,
    options: findPeopleOptions,
    loadLabel: loadPersonName,
  },
  {
    name: 'source',
    label: 'Source',
    options(search) {
      const typed = search.trim();
      const matches = SOURCES.filter((source) => source.includes(typed.toLowerCase()));
      return Promise.resolve(
        [...matches, ...(typed === '' || matches.includes(typed) ? [] : [typed])].map(optionOf),
      );
    },
    placeholder: messages.filters.sourceHint,
  },
  {
    name: 'cve',
    label: 'CVE',
    options: (search) =>
      Promise.resolve((/CVE-\d{4}-\d{4,19}/g.exec(search.toUpperCase()) ?? []).map(optionOf)),
    placeholder: 'CVE-2021-44228',
  },
  { name: 'import_id', label: 'Import', ...IMPORT_OPTIONS },
  {
    name: 'gone',
    label: messages.filters.gone,
    options: [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ],
  },
  { name: 'gone_import_id', label: messages.filters.goneByImport, ...IMPORT_OPTIONS },
];

export function useVulnerabilityFilters(): readonly FilterDefinition[] {
  const { data: statuses = [] } = useQuery(statusesQuery);
  const organizationFilter = useOrganizationFilter();
  return [
    {
      name: 'status_id',
      label: 'Status',
      options: statuses.map(({ id }) => ({
        value: String(id),
        label: statusName(id),
        content: <StatusMark id={id} withLabel />,
      })),
    },
    {
      name: 'severity',
      label: 'Severity',
      options: SEVERITIES.map((value) => ({
        value,
        label: value,
        content: <SeverityMark severity={value} withLabel />,
      })),
    },
    ...organizationFilter,
    ...SEARCHABLE_FILTERS,
    {
      name: 'retest',
      label: 'Retest',
      options: capitalizedOptions(RETEST_STATUSES),
    },
    { name: 'due_until', label: messages.filters.dueBefore, options: 'day' },
    { name: 'created_since', label: messages.filters.reportedSince, options: 'day' },
    { name: 'created_until', label: messages.filters.reportedBefore, options: 'day' },
    { name: 'updated_since', label: messages.filters.updatedSince, options: 'day' },
  ];
}
