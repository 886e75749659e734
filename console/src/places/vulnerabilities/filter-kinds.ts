import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { statuses } from '../../api/vulnerabilities.ts';
import type { FilterKind } from '../../parts/filter-bar.tsx';
import { SEVERITIES } from '../../parts/severity-mark.tsx';

/** Choices that a search is shown; one that is not among them is found by typing more. */
const SHOWN = 20;

const words = (...values: readonly string[]) =>
  values.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }));

const SEARCHED: readonly FilterKind[] = [
  {
    name: 'assessment_id',
    label: 'Assessment',
    async options(search, signal) {
      const { data } = await api.GET('/v1/assessments', {
        params: { query: { 'filter[search]': search, 'page[size]': SHOWN } },
        signal,
      });
      return data.map(({ uid, name }) => ({ value: uid, label: name }));
    },
    nameOf: async (value, signal) =>
      (await api.GET('/v1/assessments/{id}', { params: { path: { id: value } }, signal })).data.name,
  },
  {
    name: 'tag',
    label: 'Tag',
    async options(search, signal) {
      const { data } = await api.GET('/v1/vulnerability_tags', {
        params: { query: { 'filter[search]': search, 'page[size]': SHOWN } },
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
        params: { query: { search, perPage: SHOWN } },
        signal,
      });
      return data.map(({ uid, location }) => ({ value: uid, label: location ?? uid }));
    },
    nameOf: async (value, signal) =>
      (await api.GET('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: value } }, signal }))
        .data.location ?? value,
  },
];

/** The filters of the vulnerabilities. */
export function useFilterKinds(): readonly FilterKind[] {
  const { data: known = [] } = useQuery(statuses);
  return [
    {
      name: 'status_id',
      label: 'Status',
      options: known.map(({ id, name }) => ({ value: String(id), label: name })),
    },
    { name: 'severity', label: 'Severity', options: SEVERITIES.map((value) => ({ value, label: value })) },
    { name: 'phase', label: 'Phase', options: words('new', 'open', 'closed') },
    ...SEARCHED,
    {
      name: 'retest',
      label: 'Retest',
      options: words('requested', 'verified', 'failed', 'blocked', 'cancelled'),
    },
  ];
}
