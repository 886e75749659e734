import { useQuery } from '@tanstack/react-query';
import { findAssessments, loadAssessmentName } from '../../queries/assessments.ts';
import { ASSET_TYPE_LABELS, searchTags } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import { CRITICALITIES } from '../../queries/enums.ts';
import { commonMessages } from '../../components/messages.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { type FilterDefinition, toOptions } from '../../components/filter-definition.ts';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { assetMessages as messages } from './messages.ts';
import { isPortNumber } from '../../app/search-params.ts';

/** Tags and ports are searched in this many organizations: each is a request. */
const MAX_ORGANIZATIONS = 5;

const IP_RANGE = /^(\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?|[0-9a-f]*:[0-9a-f:.]*(\/\d{1,3})?)$/i;

export function useAssetFilters(): readonly FilterDefinition[] {
  const { data: visible = [] } = useQuery(organizationsQuery);
  const isMultiple = visible.length > 1;
  const searched = visible.slice(0, MAX_ORGANIZATIONS);
  return [
    {
      name: 'assetType',
      label: 'Type',
      options: toOptions(ASSET_TYPE_LABELS),
    },
    {
      name: 'criticality',
      label: 'Criticality',
      options: CRITICALITIES.map((value) => ({
        value,
        label: commonMessages.criticalities[value],
        content: <CriticalityMark criticality={value} withLabel />,
      })),
    },
    {
      name: 'tagUid',
      label: 'Tag',
      async options(search, signal) {
        const tagLists = await Promise.all(searched.map(({ uid }) => searchTags(uid, search, signal)));
        return tagLists
          .flat()
          .map(({ uid, name, orgUid }) => ({ value: uid, label: isMultiple ? `${name} (${orgUid})` : name }));
      },
      async loadLabel(value, signal) {
        for (const { uid: orgUid } of searched) {
          const path = { orgUid, tagUid: value };
          const tag = await api
            .GET('/api/tagging/v1.0/organizations/{orgUid}/tags/{tagUid}', { params: { path }, signal })
            .catch(() => undefined);
          if (tag !== undefined) return tag.data.name;
        }
        return value;
      },
    },
    {
      name: 'listingUid',
      label: messages.columns.scopeOf,
      description: LISTING_DESCRIPTION,
      placeholder: messages.filters.listingHint,
      options: findAssessments,
      loadLabel: loadAssessmentName,
    },
    {
      name: 'portNumber',
      label: messages.filters.openPort,
      async options(search, signal) {
        const number = Number(search);
        if (search.trim() !== '')
          return isPortNumber(number)
            ? [{ value: String(number), label: messages.filters.port(number) }]
            : [];
        const assessmentLists = await Promise.all(
          searched.map(({ uid }) =>
            api.GET('/api/streaming/v1/{org_uid}/assets/ports', {
              params: { path: { org_uid: uid }, query: { per_page: 20 } },
              signal,
            }),
          ),
        );
        const ports = assessmentLists.flatMap(({ data }) =>
          data.data.attributes.ports.map((port) => port.number),
        );
        return [...new Set(ports)].map((port) => ({
          value: String(port),
          label: messages.filters.port(port),
        }));
      },
      loadLabel: (value) => Promise.resolve(value),
    },
    {
      name: 'ipRange',
      label: messages.filters.ipRange,
      options(search) {
        const block = search.trim();
        return Promise.resolve(
          IP_RANGE.test(block) ? [{ value: block.toLowerCase(), label: block.toLowerCase() }] : [],
        );
      },
      loadLabel: (value) => Promise.resolve(value),
      placeholder: messages.filters.ipRangeHint,
    },
    ...(isMultiple
      ? [
          {
            name: 'organizationUid',
            label: 'Organization',
            options: visible.map(({ uid, name }) => ({ value: uid, label: name })),
          },
        ]
      : []),
  ];
}
