import { useQuery } from '@tanstack/react-query';
import { api, AssayError } from '../../queries/client.ts';
import { statuses } from '../../queries/vulnerabilities.ts';
import type { FilterDefinition } from '../../components/filter-definition.ts';
import { SEVERITIES } from '../../components/severity-badge.tsx';

/** Choices that a search is shown; one that is not among them is found by typing more. */
const MAX_OPTIONS = 20;

const capitalizedOptions = (...values: readonly string[]) =>
  values.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }));

/** What findings come from: people, and the formats of reports. Of SARIF it is the tool's name, which is typed. */
const SOURCES =
  'manual nmap masscan naabu httpx nuclei zap burp nessus openvas trivy nikto testssl wapiti cyclonedx npm-audit generic csv'.split(
    ' ',
  );

const optionOf = (value: string) => ({ value, label: value });

/** People are listed to admins; others find themselves. */
async function findPeopleOptions(search: string, signal: AbortSignal) {
  const { data: who } = await api.GET('/v1/users/whoami', { signal });
  const own = { value: String(who.id), label: `${who.name ?? who.email} (you)` };
  if (!who.admin) return [own];
  const { data } = await api.GET('/v1/users', {
    params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
    signal,
  });
  const others = data.filter(({ id }) => id !== who.id);
  return [own, ...others.map(({ id, name, email }) => ({ value: String(id), label: name ?? email }))];
}

async function loadPersonName(value: string, signal: AbortSignal): Promise<string> {
  try {
    const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(value) } }, signal });
    return data.name ?? data.email;
  } catch (error) {
    // Who may not read about others still sees that a filter is there.
    if (error instanceof AssayError) return `person ${value}`;
    throw error;
  }
}

const IMPORT_OPTIONS: Omit<FilterDefinition, 'name' | 'label'> = {
  async options(search, signal) {
    // A dry run makes nothing, and each report that is dropped leaves some.
    const query = { 'filter[dry_run]': false, 'page[size]': 200 };
    const { data } = await api.GET('/v1/imports', { params: { query }, signal });
    const wanted = search.toLowerCase();
    return data
      .map(({ id, file }) => ({ value: String(id), label: `${file.filename} (#${id})` }))
      .filter(({ label }) => label.toLowerCase().includes(wanted))
      .slice(0, MAX_OPTIONS);
  },
  loadLabel: async (value, signal) =>
    (await api.GET('/v1/imports/{id}', { params: { path: { id: Number(value) } }, signal })).data.file
      .filename,
  placeholder: 'Name or number',
};

const SEARCHABLE_FILTERS: readonly FilterDefinition[] = [
  {
    name: 'assessment_id',
    label: 'Assessment',
    async options(search, signal) {
      const { data } = await api.GET('/v1/assessments', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
        signal,
      });
      return data.map(({ uid, name }) => ({ value: uid, label: name }));
    },
    loadLabel: async (value, signal) =>
      (await api.GET('/v1/assessments/{id}', { params: { path: { id: value } }, signal })).data.name,
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
    async options(search, signal) {
      const { data } = await api.GET('/v1/assessment_groups', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
        signal,
      });
      return data.map(({ id, name }) => ({ value: String(id), label: name }));
    },
    loadLabel: async (value, signal) =>
      (await api.GET('/v1/assessment_groups/{id}', { params: { path: { id: Number(value) } }, signal })).data
        .name,
  },
  { name: 'assignee_id', label: 'Assignee', options: findPeopleOptions, loadLabel: loadPersonName },
  { name: 'created_by', label: 'Reported by', options: findPeopleOptions, loadLabel: loadPersonName },
  {
    name: 'source',
    label: 'Source',
    options(search) {
      const typed = search.trim();
      const found = SOURCES.filter((source) => source.includes(typed.toLowerCase()));
      return Promise.resolve(
        [...found, ...(typed === '' || found.includes(typed) ? [] : [typed])].map(optionOf),
      );
    },
    placeholder: 'Scanner or tool',
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
    label: 'Gone from last report',
    options: [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ],
  },
  { name: 'gone_import_id', label: 'Gone by import', ...IMPORT_OPTIONS },
];

/** The filters of the vulnerabilities. */
export function useVulnerabilityFilters(): readonly FilterDefinition[] {
  const { data: known = [] } = useQuery(statuses);
  return [
    {
      name: 'status_id',
      label: 'Status',
      options: known.map(({ id, name }) => ({ value: String(id), label: name })),
    },
    { name: 'severity', label: 'Severity', options: SEVERITIES.map((value) => ({ value, label: value })) },
    { name: 'phase', label: 'Phase', options: capitalizedOptions('new', 'open', 'closed') },
    ...SEARCHABLE_FILTERS,
    {
      name: 'retest',
      label: 'Retest',
      options: capitalizedOptions('requested', 'verified', 'failed', 'blocked', 'cancelled'),
    },
    { name: 'due_until', label: 'Due before', options: 'day' },
    { name: 'created_since', label: 'Reported since', options: 'day' },
    { name: 'created_until', label: 'Reported before', options: 'day' },
    { name: 'updated_since', label: 'Changed since', options: 'day' },
  ];
}
