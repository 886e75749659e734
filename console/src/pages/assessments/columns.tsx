import { Group } from '@mantine/core';
import type { Assessment } from '../../queries/client.ts';
import type { AssessmentType } from '../../queries/enums.ts';
import { type Column, RowLink } from '../../components/table-column.tsx';
import { TagDot } from '../../components/identity-marks.tsx';
import { Day, Time } from '../../components/time.tsx';
import { AssessmentStateBadge } from './assessment-state-badge.tsx';

export const ASSESSMENT_TYPE_LABELS: Readonly<Record<AssessmentType, string>> = {
  web: 'Web',
  host: 'Hosts',
  api: 'API',
  mobile: 'Mobile',
};

export const assessmentTypeLabel = (type: string): string =>
  (ASSESSMENT_TYPE_LABELS as Readonly<Record<string, string>>)[type] ?? type;

export const ASSESSMENT_TABLE_COLUMNS: readonly Column<Assessment>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 3fr)',
    sort: 'name',
    cell: ({ uid, name }) => (
      <RowLink to={`/assessments/${uid}`} title={name}>
        {name}
      </RowLink>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: '112px',
    sort: 'state',
    cell: ({ state }) => <AssessmentStateBadge state={state} />,
  },
  {
    id: 'open',
    header: 'Open',
    width: '64px',
    minTableWidth: 440,
    cell: ({ open_vulnerability_count }) => open_vulnerability_count.toLocaleString(),
  },
  {
    id: 'all',
    header: 'Total',
    width: '64px',
    minTableWidth: 520,
    cell: ({ vulnerability_count }) => vulnerability_count.toLocaleString(),
  },
  {
    id: 'assets',
    header: 'Assets',
    width: '64px',
    minTableWidth: 600,
    cell: ({ asset_count }) => asset_count.toLocaleString(),
  },
  {
    id: 'type',
    header: 'Type',
    width: '72px',
    minTableWidth: 680,
    cell: ({ type }) => assessmentTypeLabel(type),
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(140px, 2fr)',
    minTableWidth: 900,
    cell: ({ tags }) => (
      <Group gap={6} wrap="nowrap">
        {tags.slice(0, 2).map(({ id, name }) => (
          <TagDot key={id} id={id} name={name} />
        ))}
        {tags.length > 2 && `+${tags.length - 2}`}
      </Group>
    ),
  },
  {
    id: 'starts',
    header: 'Starts',
    width: '104px',
    sort: 'starts_on',
    minTableWidth: 1240,
    cell: ({ starts_on }) => starts_on !== null && <Day on={starts_on} />,
  },
  {
    id: 'ends',
    header: 'Ends',
    width: '108px',
    sort: 'ends_on',
    minTableWidth: 760,
    cell: ({ ends_on }) => ends_on !== null && <Day on={ends_on} />,
  },
  {
    id: 'created',
    header: 'Created',
    width: '136px',
    sort: 'created_at',
    minTableWidth: 1120,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
