import { useQuery } from '@tanstack/react-query';
import { ASSET_TYPES, searchListings, searchTags } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import { organizations } from '../../queries/organizations.ts';
import type { FilterDefinition } from '../../components/filter-definition.ts';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { isPortNumber } from './search-params.ts';

/** Of that many organizations tags and ports are searched at once. */
const MAX_ORGANIZATIONS = 5;

const IP_RANGE = /^(\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?|[0-9a-f:]*:[0-9a-f:.]*(\/\d{1,3})?)$/i;

/** The filters of the assets. */
export function useAssetFilters(): readonly FilterDefinition[] {
  const { data: reached = [] } = useQuery(organizations);
  const several = reached.length > 1;
  const asked = reached.slice(0, MAX_ORGANIZATIONS);
  return [
    {
      name: 'assetType',
      label: 'Type',
      options: Object.entries(ASSET_TYPES).map(([value, label]) => ({ value, label })),
    },
    {
      name: 'criticality',
      label: 'Criticality',
      options: [
        { value: 'high', label: 'High' },
        { value: 'medium', label: 'Medium' },
        { value: 'low', label: 'Low' },
        { value: 'undefined', label: 'Not set' },
      ],
    },
    {
      name: 'tagUid',
      label: 'Tag',
      async options(search, signal) {
        const found = await Promise.all(asked.map(({ uid }) => searchTags(uid, search, signal)));
        return found
          .flat()
          .map(({ uid, name, orgUid }) => ({ value: uid, label: several ? `${name} (${orgUid})` : name }));
      },
      async loadLabel(value, signal) {
        for (const { uid: orgUid } of asked) {
          const path = { orgUid, tagUid: value };
          const found = await api
            .GET('/api/tagging/v1.0/organizations/{orgUid}/tags/{tagUid}', { params: { path }, signal })
            .catch(() => undefined);
          if (found !== undefined) return found.data.name;
        }
        return value;
      },
    },
    {
      name: 'listingUid',
      label: 'Listing',
      description: LISTING_DESCRIPTION,
      placeholder: 'Name of the assessment',
      async options(search, signal) {
        return (await searchListings(search, signal)).map(({ uid, name }) => ({ value: uid, label: name }));
      },
      loadLabel: async (value, signal) =>
        (await api.GET('/v1/assessments/{id}', { params: { path: { id: value } }, signal })).data.name,
    },
    {
      name: 'portNumber',
      label: 'Open port',
      async options(search, signal) {
        const number = Number(search);
        if (search.trim() !== '')
          return isPortNumber(number) ? [{ value: String(number), label: `Port ${number}` }] : [];
        const found = await Promise.all(
          asked.map(({ uid }) =>
            api.GET('/api/streaming/v1/{org_uid}/assets/ports', {
              params: { path: { org_uid: uid }, query: { per_page: 20 } },
              signal,
            }),
          ),
        );
        const ports = found.flatMap(({ data }) => data.data.attributes.ports.map((port) => port.number));
        return [...new Set(ports)].map((port) => ({ value: String(port), label: `Port ${port}` }));
      },
      loadLabel: (value) => Promise.resolve(value),
    },
    {
      name: 'ipRange',
      label: 'IP range',
      options(search) {
        const block = search.trim();
        return Promise.resolve(
          IP_RANGE.test(block) ? [{ value: block.toLowerCase(), label: block.toLowerCase() }] : [],
        );
      },
      loadLabel: (value) => Promise.resolve(value),
      placeholder: 'An address or a block: 192.0.2.0/24',
    },
    ...(several
      ? [
          {
            name: 'organizationUid',
            label: 'Organization',
            options: reached.map(({ uid, name }) => ({ value: uid, label: name })),
          },
        ]
      : []),
  ];
}
