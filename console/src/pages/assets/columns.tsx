import { Group } from '@mantine/core';
import { ASSET_TYPE_LABELS, type AssetRow } from '../../queries/assets.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { TagDot } from '../../components/identity-marks.tsx';
import { assetMessages as messages } from './messages.ts';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { type Column, StackedCell, RowLink } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';

interface AssetColumn extends Column<AssetRow> {
  /** Absent for a column that is always shown. */
  hasValue?: (row: AssetRow) => boolean;
}

/** @returns the columns with a value in one of the rows, so that addresses have the width of the others */
export const assetColumnsFor = (rows: readonly AssetRow[]): readonly Column<AssetRow>[] =>
  ASSET_COLUMNS.filter(({ hasValue }) => hasValue === undefined || rows.some(hasValue));

const ASSET_COLUMNS: readonly AssetColumn[] = [
  {
    id: 'location',
    header: 'Asset',
    width: 'minmax(150px, 3fr)',
    sort: 'location',
    cell: ({ uid, location }) => (
      <RowLink to={`/assets/${uid}`} title={location}>
        {location}
      </RowLink>
    ),
    narrow: {
      cell: ({ uid, location, name, assetType }) => (
        <StackedCell
          secondary={
            <span title={name} dir="auto">
              {name === '' || name === location ? ASSET_TYPE_LABELS[assetType] : name}
            </span>
          }
        >
          <RowLink to={`/assets/${uid}`} title={location}>
            {location}
          </RowLink>
        </StackedCell>
      ),
    },
  },
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 2.5fr)',
    minTableWidth: 920,
    hasValue: ({ name, location }) => name !== '' && name !== location,
    cell: ({ name, location }) =>
      name !== location && (
        <span title={name} dir="auto">
          {name}
        </span>
      ),
  },
  {
    id: 'type',
    header: 'Type',
    width: '116px',
    minTableWidth: 720,
    cell: ({ assetType }) => ASSET_TYPE_LABELS[assetType],
  },
  {
    id: 'criticality',
    header: 'Criticality',
    width: '104px',
    sort: 'criticality',
    cell: ({ criticality }) => (
      <CriticalityMark criticality={criticality} withLabel={criticality !== 'undefined'} />
    ),
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(100px, 1fr)',
    minTableWidth: 1040,
    hasValue: ({ tags }) => tags.length > 0,
    cell: ({ tags }) => (
      <Group gap={6} wrap="nowrap">
        {tags.slice(0, 1).map(({ uid, name }) => (
          <TagDot key={uid} id={uid} name={name} />
        ))}
        {tags.length > 1 && `+${tags.length - 1}`}
      </Group>
    ),
  },
  {
    id: 'listings',
    header: 'Listings',
    description: LISTING_DESCRIPTION,
    width: 'minmax(100px, 1fr)',
    minTableWidth: 1240,
    hasValue: ({ listings }) => listings.length > 0,
    cell: ({ listings }) => {
      const names = listings.map(({ listingUid }) => listingUid).join(', ');
      return <span title={names}>{names}</span>;
    },
  },
  {
    id: 'ports',
    header: messages.columns.openPorts,
    width: '88px',
    minTableWidth: 1140,
    hasValue: ({ openPortCount }) => openPortCount > 0,
    cell: ({ openPortCount }) => (openPortCount === 0 ? '' : openPortCount.toLocaleString()),
  },
  {
    id: 'vulnerabilities',
    header: 'Vulnerabilities',
    width: '116px',
    minTableWidth: 480,
    sort: 'vulnerabilityCount',
    cell: ({ vulnerabilityCount }) => (vulnerabilityCount === 0 ? '' : vulnerabilityCount.toLocaleString()),
  },
  {
    id: 'seen',
    header: messages.columns.lastSeen,
    width: '136px',
    minTableWidth: 620,
    sort: 'lastSeen',
    cell: ({ lastSeen }) => (lastSeen === null ? messages.neverSeen : <Time at={lastSeen} />),
  },
];
