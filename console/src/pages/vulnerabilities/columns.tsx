import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { useDensity } from '../../components/density.ts';
import { DueDate } from '../../components/due-date.tsx';
import { OrganizationMark, PersonMark, TagDot } from '../../components/identity-marks.tsx';
import { commonMessages } from '../../components/messages.ts';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { RowLink, type Column, StackedCell } from '../../components/table-column.tsx';
import { Age, Time } from '../../components/time.tsx';
import { VulnerabilityPills } from '../../components/vulnerability-pills.tsx';
import { findTrail } from '../../queries/finding-trail.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import type { VulnerabilityRow } from '../../queries/vulnerabilities.ts';
import { useIsStaff } from '../../session/permissions.ts';
import { vulnerabilityListMessages as messages } from './messages.ts';
import classes from './columns.module.css';

/** Per row; the rest is a count. */
const MAX_TAGS_SHOWN = 2;
/** Pixels of a table in which the status has room for its word. */
const WIDE_TABLE = 860;
/** Pixels of a table in which the number, the due date and the age have room. */
const MIN_WIDTH_OF_DETAILS = 600;
/** Windows in which a row shows everything in one cell. */
const PHONE = '(max-width: 599px)';

function TitleLink({ row: { id, title } }: { row: VulnerabilityRow }) {
  const client = useQueryClient();
  return (
    <RowLink
      to={`/vulnerabilities/${id}`}
      title={title}
      state={(list) => ({ trail: findTrail(client, id, list) })}
    >
      {title}
    </RowLink>
  );
}

/** What a row shows besides its own fields. */
interface RowContext {
  /** Marks organizations by id, for readers of several. */
  organizations: ReadonlyMap<number, { id: number; name: string }>;
  /** Whether all rows are of one assessment. */
  isOfOneAssessment: boolean;
  /** Whether a row still matches the list after an edit. */
  matches: (row: VulnerabilityRow) => boolean;
}

interface CellProps {
  row: VulnerabilityRow;
  context: RowContext;
}

/** The organization, for readers of several, and the assessment. */
function Origin({ row, context }: CellProps) {
  const organization = context.isOfOneAssessment
    ? undefined
    : context.organizations.get(row.organization_profile_id);
  return (
    <span className={classes.origin}>
      {organization !== undefined && <OrganizationMark organization={organization} size="sm" />}
      {!context.isOfOneAssessment && <AssessmentName uid={row.assessment_id} />}
      <VulnerabilityPills vulnerability={row} isStale={!context.matches(row)} />
    </span>
  );
}

/** The status of a row; a draft has none until it is published. */
const Status = ({ row: { draft, status_id: id } }: { row: VulnerabilityRow }) =>
  draft === true ? commonMessages.draft.status : <StatusMark id={id} withLabel />;

const titleColumn = (
  isCompact: boolean,
  isPhone: boolean,
  context: RowContext,
): Column<VulnerabilityRow> => ({
  id: 'title',
  header: 'Title',
  width: 'minmax(60px, 1fr)',
  sort: 'title',
  cell: (row) => {
    if (isPhone)
      return (
        <span className={classes.phone}>
          <TitleLink row={row} />
          <Origin row={row} context={context} />
          <span className={classes.origin}>
            <Status row={row} />
            <DueDate vulnerability={row} />
          </span>
        </span>
      );
    return isCompact ? (
      <span className={classes.title}>
        <TitleLink row={row} />
        <VulnerabilityPills vulnerability={row} isStale={!context.matches(row)} />
      </span>
    ) : (
      <StackedCell secondary={<Origin row={row} context={context} />}>
        <TitleLink row={row} />
      </StackedCell>
    );
  },
});

const assigneeColumn: Column<VulnerabilityRow> = {
  id: 'assignee',
  header: 'Assignee',
  width: '22px',
  hidesHeader: true,
  cell: ({ assignee }) => <PersonMark person={assignee} />,
};

const COLUMNS: readonly Column<VulnerabilityRow>[] = [
  {
    id: 'status',
    header: 'Status',
    width: '156px',
    sort: 'status_id',
    cell: (row) => <Status row={row} />,
    narrow: {
      below: WIDE_TABLE,
      width: '20px',
      hidesHeader: true,
      cell: ({ status_id: id }) => <StatusMark id={id} />,
    },
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(110px, 0.4fr)',
    isHiddenByDefault: true,
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
    id: 'due',
    header: 'Due',
    width: '116px',
    sort: 'due_on',
    minTableWidth: MIN_WIDTH_OF_DETAILS,
    cell: (row) => <DueDate vulnerability={row} />,
  },
  assigneeColumn,
  {
    id: 'reported',
    header: messages.columns.age,
    width: '48px',
    sort: 'resolved_at',
    isNumeric: true,
    minTableWidth: MIN_WIDTH_OF_DETAILS,
    cell: ({ resolved_at }) => <Age since={resolved_at} />,
  },
  {
    id: 'updated',
    header: messages.columns.updated,
    width: '112px',
    sort: 'updated_at',
    isHiddenByDefault: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
  {
    id: 'score',
    header: messages.columns.score,
    width: '52px',
    sort: 'cvss_score',
    isNumeric: true,
    isHiddenByDefault: true,
    cell: ({ cvss_score }) => cvss_score?.toFixed(1) ?? '',
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
    width: '80px',
    isNumeric: true,
    isHiddenByDefault: true,
    cell: ({ comment_count }) => (comment_count === 0 ? '' : comment_count.toLocaleString()),
  },
];

const numberColumn: Column<VulnerabilityRow> = {
  id: 'number',
  header: messages.columns.number,
  width: '52px',
  isNumeric: true,
  minTableWidth: MIN_WIDTH_OF_DETAILS,
  cell: ({ id }) => <span className={classes.number}>{id}</span>,
};

const severityColumn: Column<VulnerabilityRow> = {
  id: 'severity',
  header: 'Severity',
  width: '20px',
  sort: 'severity',
  hidesHeader: true,
  cell: ({ severity }) => <SeverityMark severity={severity} />,
};

const assessmentColumn: Column<VulnerabilityRow> = {
  id: 'assessment',
  header: 'Assessment',
  width: 'minmax(120px, 0.4fr)',
  minTableWidth: WIDE_TABLE,
  cell: ({ assessment_id: uid }) => <AssessmentName uid={uid} />,
};

interface TableOptions {
  isOfOneAssessment?: boolean;
  matches?: RowContext['matches'];
}

const matchAll = () => true;

/** The columns of a list of vulnerabilities and the height of its rows, for its reader and the density of lists. */
export function useVulnerabilityTable({ isOfOneAssessment = false, matches = matchAll }: TableOptions = {}) {
  const [density] = useDensity();
  const isStaff = useIsStaff() === true;
  const isPhone = useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
  const { data } = useQuery({ ...organizationsQuery, enabled: isStaff });
  const organizations = isStaff ? data : undefined;
  const isCompact = density === 'compact';
  const columns = useMemo(() => {
    const context = {
      organizations: new Map((organizations ?? []).map((organization) => [organization.id, organization])),
      isOfOneAssessment,
      matches,
    };
    const title = titleColumn(isCompact, isPhone, context);
    if (isPhone) return [severityColumn, title, assigneeColumn];
    return [
      numberColumn,
      severityColumn,
      title,
      ...(isCompact && !isOfOneAssessment ? [assessmentColumn] : []),
      ...COLUMNS,
    ];
  }, [organizations, isCompact, isPhone, isOfOneAssessment, matches]);
  return { columns, rowHeight: isPhone ? 92 : isCompact ? 36 : 52, hidesHead: isPhone || !isCompact };
}
