import { IconCheck, IconClockPause, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { DueDate } from '../../components/due-date.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { OrganizationMark, PersonMark } from '../../components/identity-marks.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { commonMessages } from '../../components/messages.ts';
import { Age, Time } from '../../components/time.tsx';
import { VulnerabilityPills } from '../../components/vulnerability-pills.tsx';
import type { Retest } from '../../queries/client.ts';
import type { SectionRow } from '../../queries/home.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import { retestsQuery } from '../../queries/retests.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { currentUserQuery, useIsStaff } from '../../session/permissions.ts';
import { LoadError } from './load-error.tsx';
import { homeMessages as messages } from './messages.ts';
import type { FindingSectionContent, SectionName } from './sections.ts';
import { RowStep } from './row-step.tsx';
import { TaskRow, TaskSection } from './task-section.tsx';
import classes from './home-page.module.css';

interface RowProps {
  row: SectionRow;
}

/** The rows of each section. */
const ROWS: Readonly<Record<SectionName, (props: RowProps) => ReactNode>> = {
  overdue: DueRow,
  assigned: DueRow,
  decisions: DecisionRow,
  new: NewRow,
  drafts: DraftRow,
  retested: RetestedRow,
  waiting: WaitingRow,
};

/** The first findings of a section, with a link to each list that has the others. */
export function FindingSection({
  section: { name, rows, parts, error, retry },
}: {
  section: FindingSectionContent;
}) {
  const Row = ROWS[name];
  return (
    <TaskSection
      title={messages.sections[name]}
      total={parts.reduce((sum, { total }) => sum + total, 0)}
      more={<MoreLinks parts={parts} shown={rows.length} />}
    >
      {error !== null && (
        <li className={classes.row}>
          <LoadError error={error} onRetry={retry} />
        </li>
      )}
      {rows.map((row) => (
        <Row key={row.id} row={row} />
      ))}
    </TaskSection>
  );
}

/** One list has the others, or each part of a section is a list of its own. */
function MoreLinks({ parts, shown }: Pick<FindingSectionContent, 'parts'> & { shown: number }) {
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  if (total <= shown) return null;
  return (
    <span className={classes.more}>
      {parts.map(({ search, count, total: ofPart }) => (
        <Link
          key={JSON.stringify(search)}
          to="/vulnerabilities"
          search={listAddress(search)}
          className={classes.link}
        >
          {parts.length === 1
            ? messages.showMore(total - shown)
            : fillSentence(count(ofPart), { count: ofPart.toLocaleString() })}
        </Link>
      ))}
    </span>
  );
}

interface FindingRowProps extends RowProps {
  lead?: ReactNode;
  detail?: ReactNode;
  reason: ReactNode;
}

function FindingRow({ row, lead, detail, reason }: FindingRowProps) {
  const isStaff = useIsStaff();
  const { data: organizations } = useQuery(organizationsQuery);
  const organization =
    isStaff === true ? organizations?.find(({ id }) => id === row.organization_profile_id) : undefined;
  return (
    <TaskRow
      lead={lead ?? <SeverityMark severity={row.severity} />}
      title={
        <Link
          to="/vulnerabilities/$id"
          params={{ id: String(row.id) }}
          className={classes.title}
          dir="auto"
          title={row.title}
        >
          {row.title}
        </Link>
      }
      facts={
        <>
          {organization !== undefined && <OrganizationMark organization={organization} size="sm" withLabel />}
          <span>#{row.id}</span>
          <span className={classes.cut}>
            <AssessmentName uid={row.assessment_id} />
          </span>
          {detail !== undefined && <span className={classes.detail}>{detail}</span>}
        </>
      }
      reason={reason}
      who={<PersonMark person={row.assignee} />}
      step={<RowStep row={row} />}
    />
  );
}

function DueRow({ row }: RowProps) {
  return (
    <FindingRow
      row={row}
      detail={<StatusMark id={row.status_id} withLabel />}
      reason={<DueDate vulnerability={row} />}
    />
  );
}

const reporter = ({ created_by: person }: SectionRow) =>
  person === null ? undefined : messages.reportedBy(commonMessages.person.author(person));

function DecisionRow({ row }: RowProps) {
  if (row.gone_at === null) return <NewRow row={row} />;
  return (
    <FindingRow
      row={row}
      detail={messages.notInReport}
      reason={
        <>
          <VulnerabilityPills vulnerability={row} /> <Time at={row.gone_at} />
        </>
      }
    />
  );
}

function NewRow({ row }: RowProps) {
  return <FindingRow row={row} detail={reporter(row)} reason={<Time at={row.created_at} />} />;
}

function DraftRow({ row }: RowProps) {
  const { data: user } = useQuery(currentUserQuery);
  const { created_by: author } = row;
  return (
    <FindingRow
      row={row}
      detail={
        author === null
          ? undefined
          : author.id === user?.id
            ? messages.writtenByYou
            : messages.writtenBy(commonMessages.person.author(author))
      }
      reason={<Time at={row.updated_at} />}
    />
  );
}

const OUTCOME_ICONS = {
  verified: <IconCheck size={16} aria-hidden className={classes.good} />,
  failed: <IconX size={16} aria-hidden className={classes.bad} />,
  blocked: <IconClockPause size={16} aria-hidden />,
} as const;

/** @returns the last retest; undefined until it is read */
const useLastRetest = ({ id }: SectionRow): Retest | undefined => useQuery(retestsQuery(id)).data?.at(-1);

function RetestedRow({ row }: RowProps) {
  const retest = useLastRetest(row);
  const outcome = retest && messages.outcomes[retest.status];
  const text = retest?.decision_message ?? '';
  return (
    <FindingRow
      row={row}
      lead={OUTCOME_ICONS[retest?.status as keyof typeof OUTCOME_ICONS] ?? null}
      detail={text === '' ? outcome : `${outcome}: ${messages.quote(text)}`}
      reason={<Time at={retest?.decided_at ?? row.updated_at} />}
    />
  );
}

function WaitingRow({ row }: RowProps) {
  const retest = useLastRetest(row);
  return (
    <FindingRow
      row={row}
      detail={retest === undefined || retest.message === '' ? undefined : messages.quote(retest.message)}
      reason={
        retest !== undefined && (
          <>
            <Age since={retest.created_at} />, {commonMessages.person.author(retest.user)}
          </>
        )
      }
    />
  );
}
