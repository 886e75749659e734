import { Anchor, Badge, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { VulnerabilityRow } from '../../api/vulnerabilities.ts';
import type { Column } from '../../parts/rows-table.tsx';
import { SeverityMark } from '../../parts/severity-mark.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Day, Time } from '../../parts/time.tsx';

/** The columns of the vulnerabilities. */
export const COLUMNS: readonly Column<VulnerabilityRow>[] = [
  {
    id: 'severity',
    header: 'Severity',
    width: '112px',
    sort: 'severity',
    cell: ({ severity }) => <SeverityMark severity={severity} />,
  },
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(120px, 3fr)',
    sort: 'title',
    cell: ({ id, title }) => (
      <Anchor component={Link} to={`/vulnerabilities/${id}`} size="sm" c="inherit" fw={500} title={title}>
        {title}
      </Anchor>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '156px',
    sort: 'status_id',
    from: 400,
    cell: ({ status, vulnerability_status }) => (
      <StatusBadge name={status} flow={vulnerability_status.flow_type} />
    ),
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(90px, 1fr)',
    from: 900,
    cell: ({ tags }) => (
      <Group gap={4} wrap="nowrap">
        {tags.slice(0, 2).map(({ name }) => (
          <Badge key={name} size="sm" variant="default" tt="none" fw={400} maw={120}>
            {name}
          </Badge>
        ))}
        {tags.length > 2 && `+${tags.length - 2}`}
      </Group>
    ),
  },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 0.8fr)',
    from: 780,
    cell: ({ listing }) => listing.codename,
  },
  {
    id: 'assignee',
    header: 'Assignee',
    width: '140px',
    from: 1000,
    cell: ({ assignee }) => assignee?.name ?? assignee?.email ?? '',
  },
  {
    id: 'due',
    header: 'Due',
    width: '104px',
    sort: 'due_on',
    from: 1100,
    cell: ({ due_on }) => due_on !== null && <Day on={due_on} />,
  },
  {
    id: 'reported',
    header: 'Reported',
    width: '112px',
    sort: 'resolved_at',
    from: 620,
    cell: ({ resolved_at }) => <Time at={resolved_at} />,
  },
];
