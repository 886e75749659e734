import type { VulnerabilityRow } from '../../queries/vulnerabilities.ts';
import { daysLate, Late } from '../../components/due-date.tsx';
import { GoneMark } from '../../components/gone-badge.tsx';
import { RowLink } from '../../components/row-link.tsx';
import type { Column } from '../../components/table-column.ts';
import { SeverityMark } from '../../components/severity-badge.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TwoLines } from '../../components/stacked-cell.tsx';
import { Day, Time } from '../../components/time.tsx';
import classes from './columns.module.css';

/** Of a row; the others are counted. */
const TAGS_SHOWN = 1;

function TitleLink({ row: { id, title } }: { row: VulnerabilityRow }) {
  return (
    <RowLink to={`/vulnerabilities/${id}`} title={title}>
      {title}
    </RowLink>
  );
}

/** The columns of the vulnerabilities. */
export const COLUMNS: readonly Column<VulnerabilityRow>[] = [
  {
    id: 'severity',
    header: 'Severity',
    width: '112px',
    sort: 'severity',
    cell: ({ severity }) => <SeverityMark severity={severity} />,
    narrow: {
      width: '18px',
      hidesHeader: true,
      cell: ({ severity }) => <SeverityMark severity={severity} withWord={false} />,
    },
  },
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(60px, 3fr)',
    sort: 'title',
    cell: (row) => (
      <span className={classes.title}>
        <TitleLink row={row} />
        <GoneMark of={row} />
      </span>
    ),
    narrow: {
      cell: (row) => (
        <TwoLines
          second={
            <span className={classes.title}>
              <StatusBadge name={row.status} flow={row.vulnerability_status.flow_type} />
              <GoneMark of={row} />
              <Late of={row} />
            </span>
          }
        >
          <TitleLink row={row} />
        </TwoLines>
      ),
    },
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
    width: 'minmax(110px, 0.6fr)',
    from: 860,
    cell: ({ tags }) => (
      <span className={classes.tags} title={tags.map(({ name }) => name).join(', ')}>
        {tags.slice(0, TAGS_SHOWN).map(({ name }) => (
          <span key={name} className={classes.tag}>
            {name}
          </span>
        ))}
        {tags.length > TAGS_SHOWN && <span>+{tags.length - TAGS_SHOWN}</span>}
      </span>
    ),
  },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 0.8fr)',
    from: 1240,
    cell: ({ listing }) => listing.codename,
  },
  {
    id: 'assignee',
    header: 'Assignee',
    width: '124px',
    from: 1000,
    cell: ({ assignee }) => assignee?.name ?? assignee?.email ?? '',
  },
  {
    id: 'due',
    header: 'Due',
    width: '126px',
    sort: 'due_on',
    from: 1100,
    cell: (row) => {
      if (row.due_on === null) return null;
      const day = <Day on={row.due_on} />;
      return daysLate(row) === 0 ? day : <TwoLines second={<Late of={row} />}>{day}</TwoLines>;
    },
  },
  {
    id: 'reported',
    header: 'Reported',
    width: '112px',
    sort: 'resolved_at',
    from: 700,
    cell: ({ resolved_at }) => <Time at={resolved_at} />,
  },
  {
    id: 'updated',
    header: 'Changed',
    width: '112px',
    sort: 'updated_at',
    extra: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
  {
    id: 'score',
    header: 'Score',
    width: '70px',
    sort: 'cvss_score',
    extra: true,
    cell: ({ cvss_score }) => cvss_score ?? '',
  },
  {
    id: 'cve',
    header: 'CVE',
    width: '140px',
    extra: true,
    cell: ({ cve_ids }) => <span title={cve_ids.join(', ')}>{cve_ids.join(', ')}</span>,
  },
  { id: 'source', header: 'Source', width: '90px', extra: true, cell: ({ source }) => source },
  {
    id: 'comments',
    header: 'Comments',
    width: '90px',
    extra: true,
    cell: ({ comment_count }) => (comment_count === 0 ? '' : comment_count.toLocaleString()),
  },
  { id: 'number', header: 'Number', width: '84px', extra: true, cell: ({ id }) => `#${id}` },
];
