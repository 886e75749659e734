import type { VulnerabilityRow } from '../../queries/vulnerabilities.ts';
import { daysOverdue, DueDate } from '../../components/due-date.tsx';
import { PersonMark, TagDot } from '../../components/identity-marks.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { VulnerabilityPills } from '../../components/vulnerability-pills.tsx';
import { RowLink, type Column, StackedCell } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';
import classes from './columns.module.css';

/** Per row; the rest is a count. */
const MAX_TAGS_SHOWN = 1;

function TitleLink({ row: { id, title } }: { row: VulnerabilityRow }) {
  return (
    <RowLink to={`/vulnerabilities/${id}`} title={title}>
      {title}
    </RowLink>
  );
}

export const VULNERABILITY_TABLE_COLUMNS: readonly Column<VulnerabilityRow>[] = [
  {
    id: 'severity',
    header: 'Severity',
    width: '120px',
    sort: 'severity',
    cell: ({ severity }) => <SeverityMark severity={severity} withLabel />,
    narrow: {
      width: '20px',
      hidesHeader: true,
      cell: ({ severity }) => <SeverityMark severity={severity} />,
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
        <VulnerabilityPills vulnerability={row} />
      </span>
    ),
    narrow: {
      cell: (row) => (
        <StackedCell
          secondary={
            <span className={classes.title}>
              <StatusMark id={row.status_id} withLabel />
              <VulnerabilityPills vulnerability={row} />
              {daysOverdue(row) > 0 && <DueDate vulnerability={row} />}
            </span>
          }
        >
          <TitleLink row={row} />
        </StackedCell>
      ),
    },
  },
  {
    id: 'status',
    header: 'Status',
    width: '164px',
    sort: 'status_id',
    minTableWidth: 400,
    cell: ({ status_id }) => <StatusMark id={status_id} withLabel />,
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(110px, 0.6fr)',
    minTableWidth: 860,
    cell: ({ tags }) => (
      <span className={classes.tags} title={tags.map(({ name }) => name).join(', ')}>
        {tags.slice(0, MAX_TAGS_SHOWN).map(({ id, name }) => (
          <TagDot key={name} id={id} name={name} />
        ))}
        {tags.length > MAX_TAGS_SHOWN && <span>+{tags.length - MAX_TAGS_SHOWN}</span>}
      </span>
    ),
  },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 0.8fr)',
    minTableWidth: 1240,
    cell: ({ listing }) => listing.codename,
  },
  {
    id: 'assignee',
    header: 'Assignee',
    width: '148px',
    minTableWidth: 1000,
    cell: ({ assignee }) => <PersonMark person={assignee} withLabel={assignee !== null} />,
  },
  {
    id: 'due',
    header: 'Due',
    width: '124px',
    sort: 'due_on',
    minTableWidth: 1100,
    cell: (row) => <DueDate vulnerability={row} />,
  },
  {
    id: 'reported',
    header: 'Reported',
    width: '136px',
    sort: 'resolved_at',
    minTableWidth: 700,
    cell: ({ resolved_at }) => <Time at={resolved_at} />,
  },
  {
    id: 'updated',
    header: messages.columns.updated,
    width: '136px',
    sort: 'updated_at',
    isHiddenByDefault: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
  {
    id: 'score',
    header: messages.columns.score,
    width: '70px',
    sort: 'cvss_score',
    isHiddenByDefault: true,
    cell: ({ cvss_score }) => cvss_score ?? '',
  },
  {
    id: 'cve',
    header: 'CVE',
    width: '140px',
    isHiddenByDefault: true,
    cell: ({ cve_ids }) => <span title={cve_ids.join(', ')}>{cve_ids.join(', ')}</span>,
  },
  { id: 'source', header: 'Source', width: '90px', isHiddenByDefault: true, cell: ({ source }) => source },
  {
    id: 'comments',
    header: 'Comments',
    width: '90px',
    isHiddenByDefault: true,
    cell: ({ comment_count }) => (comment_count === 0 ? '' : comment_count.toLocaleString()),
  },
  {
    id: 'number',
    header: messages.columns.id,
    width: '84px',
    isHiddenByDefault: true,
    cell: ({ id }) => `#${id}`,
  },
];
