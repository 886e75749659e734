import { Group } from '@mantine/core';
import { Fragment } from 'react';
import { IconCloud, IconDeviceMobile, IconNetwork, IconServer, IconWorld } from '@tabler/icons-react';
import { ASSET_TYPE_LABELS, type AssetRow } from '../../queries/assets.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { TagDot } from '../../components/identity-marks.tsx';
import { assetMessages as messages } from './messages.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { type Column, StackedCell, RowLink } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import classes from './columns.module.css';

const TYPE_ICONS = {
  host: IconServer,
  webapp: IconWorld,
  network: IconNetwork,
  cloudaccount: IconCloud,
  mobileapp: IconDeviceMobile,
} as const;

interface AssetColumn extends Column<AssetRow> {
  /** Absent for a column that is always shown. */
  hasValue?: (row: AssetRow) => boolean;
}

/** @returns the columns with a value in one of the rows, so that addresses have the width of the others */
export const assetColumnsFor = (rows: readonly AssetRow[]): readonly Column<AssetRow>[] =>
  ASSET_COLUMNS.filter(({ hasValue }) => hasValue === undefined || rows.some(hasValue));

const ASSET_COLUMNS: readonly AssetColumn[] = [
  {
    id: 'type',
    header: 'Type',
    width: '16px',
    hidesHeader: true,
    cell: ({ assetType }) => {
      const TypeIcon = TYPE_ICONS[assetType];
      const label = ASSET_TYPE_LABELS[assetType];
      return (
        <span role="img" aria-label={label} title={label} className={classes.type}>
          <TypeIcon size={16} stroke={1.75} aria-hidden />
        </span>
      );
    },
  },
  {
    id: 'location',
    header: 'Asset',
    width: 'minmax(150px, 3fr)',
    sort: 'location',
    cell: ({ uid, location, name, assetType }) => (
      <StackedCell
        secondary={
          <span title={name} dir="auto">
            {name === '' || name === location ? ASSET_TYPE_LABELS[assetType] : name}
          </span>
        }
      >
        <RowLink to={`/assets/${uid}`} title={location}>
          <span className={classes.address}>{location}</span>
        </RowLink>
      </StackedCell>
    ),
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
    header: messages.columns.scopeOf,
    description: LISTING_DESCRIPTION,
    width: 'minmax(100px, 1fr)',
    minTableWidth: 1240,
    hasValue: ({ listings }) => listings.length > 0,
    cell: ({ listings }) =>
      listings.map(({ listingUid: uid }, index) => (
        <Fragment key={uid}>
          {index > 0 && ', '}
          <AssessmentName uid={uid} />
        </Fragment>
      )),
  },
  {
    id: 'ports',
    header: messages.columns.openPorts,
    width: '88px',
    isNumeric: true,
    minTableWidth: 1140,
    hasValue: ({ openPortCount }) => openPortCount > 0,
    cell: ({ openPortCount }) => (openPortCount === 0 ? '' : openPortCount.toLocaleString()),
  },
  {
    id: 'vulnerabilities',
    header: 'Vulnerabilities',
    width: '116px',
    isNumeric: true,
    minTableWidth: 480,
    sort: 'vulnerabilityCount',
    cell: ({ vulnerabilityCount }) => (vulnerabilityCount === 0 ? '' : vulnerabilityCount.toLocaleString()),
  },
  {
    id: 'seen',
    header: messages.columns.lastSeen,
    width: '144px',
    minTableWidth: 620,
    sort: 'lastSeen',
    cell: ({ lastSeen }) =>
      lastSeen === null ? (
        <span className={classes.never}>{messages.neverSeen}</span>
      ) : (
        <Time at={lastSeen} />
      ),
  },
];
