import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Sparkline, StackBar } from '../../components/charts/bars.tsx';
import { openByDay } from '../../components/charts/backlog.ts';
import { OrganizationMark } from '../../components/identity-marks.tsx';
import { scrollRegionProps } from '../../components/scroll-region.ts';
import { PageSection } from '../../components/section.tsx';
import { activeAssessmentsQuery } from '../../queries/assessments.ts';
import {
  daysToFixQuery,
  draftsByOrganizationQuery,
  organizationsOfAssessmentsQuery,
  sessionsSinceQuery,
} from '../../queries/home.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import {
  OPEN_SEARCH,
  summaryQuery,
  vulnerabilityTotalQuery,
  type VulnerabilitySearch,
} from '../../queries/vulnerabilities.ts';
import { useSelectedOrganization } from '../../session/selected-organization.ts';
import { daysFromToday, startOfHours } from './dates.ts';
import { homeMessages } from './messages.ts';
import classes from './home-page.module.css';

const messages = homeMessages.table;

/** With three requests each, and two for all organizations, they are 24 at most. */
const MAX_ASSESSMENTS = 8;
const MAX_ORGANIZATIONS = 7;

/** Reads the summary of each search, its overdue and the days to a fix: three requests each. */
function useComparison(searches: readonly VulnerabilitySearch[], ofSummary: VulnerabilitySearch) {
  const [yesterday] = useState(() => daysFromToday(-1));
  const summaries = useQueries({
    queries: searches.map((search) => summaryQuery({ ...search, ...ofSummary })),
  });
  const overdue = useQueries({
    queries: searches.map((search) =>
      vulnerabilityTotalQuery({ ...search, ...OPEN_SEARCH, due_until: yesterday }),
    ),
  });
  const daysToFix = useQueries({ queries: searches.map((search) => daysToFixQuery(search)) });
  return searches.map((_search, index) => ({
    summary: summaries[index]?.data,
    overdue: overdue[index]?.data,
    daysToFix: daysToFix[index]?.data,
  }));
}

/** The active assessments with the most open findings. */
export function AssessmentComparison() {
  const { data: assessments = [] } = useQuery(activeAssessmentsQuery);
  const shown = assessments
    .toSorted((a, b) => b.open_vulnerability_count - a.open_vulnerability_count)
    .slice(0, MAX_ASSESSMENTS);
  const rows = useComparison(
    shown.map(({ uid }) => ({ assessment_id: [uid] })),
    OPEN_SEARCH,
  );
  if (shown.length === 0) return null;
  const max = shown[0]?.open_vulnerability_count ?? 0;
  return (
    <Comparison
      title={messages.byAssessment}
      link={
        <Link to="/assessments" className={classes.link}>
          {messages.allAssessments}
        </Link>
      }
      heads={[
        messages.assessment,
        messages.bySeverity,
        messages.open,
        messages.overdue,
        messages.retests,
        messages.timeToFix,
      ]}
    >
      {shown.map(({ uid, name, open_vulnerability_count: open }, index) => {
        const { summary, overdue, daysToFix } = rows[index] ?? {};
        return (
          <tr key={uid}>
            <th scope="row">
              <Link to="/assessments/$uid" params={{ uid }} dir="auto">
                {name}
              </Link>
            </th>
            <td className={classes.wide}>
              {summary !== undefined && <StackBar counts={summary.by_severity} max={max} />}
            </td>
            <td>
              <b>{open.toLocaleString()}</b>
            </td>
            <OverdueCell count={overdue} />
            <CountCell count={summary?.retests_requested} />
            <DaysCell days={daysToFix} />
          </tr>
        );
      })}
    </Comparison>
  );
}

/** The organizations with the most open findings. */
export function OrganizationComparison() {
  const [{ month, first }] = useState(startOfHours);
  const { data: assessments = [] } = useQuery(activeAssessmentsQuery);
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const { data: drafts } = useQuery(draftsByOrganizationQuery);
  const { data: owners } = useQuery(organizationsOfAssessmentsQuery);
  const { data: sessions } = useQuery(sessionsSinceQuery(first));
  const ofMonth = sessions?.filter(({ started_at }) => Date.parse(started_at) >= Date.parse(month));
  // Hours of an assessment whose organization is not read would be missing.
  const hasHours = ofMonth?.every(({ assessment_id: uid }) => owners?.has(uid)) === true;
  const openOf = (uid: string) =>
    assessments
      .filter((assessment) => assessment.organization_uid === uid)
      .reduce((sum, assessment) => sum + assessment.open_vulnerability_count, 0);
  const selected = useSelectedOrganization();
  const shown = organizations
    .filter(({ uid }) => selected === undefined || uid === selected)
    .toSorted((a, b) => openOf(b.uid) - openOf(a.uid))
    .slice(0, MAX_ORGANIZATIONS);
  const rows = useComparison(
    shown.map(({ uid }) => ({ organization_uid: [uid] })),
    {},
  );
  if (shown.length === 0) return null;
  return (
    <Comparison
      title={messages.byOrganization}
      heads={[
        messages.organization,
        messages.course,
        messages.open,
        messages.overdue,
        messages.retests,
        messages.drafts,
        messages.timeToFix,
        ...(hasHours ? [messages.hours] : []),
      ]}
    >
      {shown.map((organization, index) => {
        const { uid, id } = organization;
        const { summary, overdue, daysToFix } = rows[index] ?? {};
        const open = summary && summary.by_phase.new + summary.by_phase.open;
        return (
          <tr key={uid}>
            <th scope="row">
              <Link to="/vulnerabilities" search={{ organization_uid: [uid] }}>
                <OrganizationMark organization={organization} withLabel />
              </Link>
            </th>
            <td className={classes.wide}>
              {summary !== undefined && <Sparkline values={openByDay(open ?? 0, summary.days)} />}
            </td>
            <td>
              <b>{open?.toLocaleString()}</b>
            </td>
            <OverdueCell count={overdue} />
            <CountCell count={summary?.retests_requested} />
            <CountCell count={drafts === undefined || drafts === null ? undefined : (drafts.get(id) ?? 0)} />
            <DaysCell days={daysToFix} />
            {hasHours && (
              <td>
                {ofMonth
                  .filter((session) => owners?.get(session.assessment_id) === uid)
                  .reduce((sum, { hours }) => sum + hours, 0)
                  .toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })}
              </td>
            )}
          </tr>
        );
      })}
    </Comparison>
  );
}

interface ComparisonProps {
  title: string;
  link?: ReactNode;
  /** The second is hidden in narrow windows, as is its column. */
  heads: readonly string[];
  children: ReactNode;
}

function Comparison({ title, link, heads, children }: ComparisonProps) {
  return (
    <PageSection title={title} action={link}>
      <div className={classes.scroll} {...scrollRegionProps(title)} role="group">
        <table className={classes.table}>
          <thead>
            <tr>
              {heads.map((head, index) => (
                <th key={head} className={index === 1 ? classes.wide : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </PageSection>
  );
}

const CountCell = ({ count }: { count: number | undefined }) => (
  <td data-zero={count === 0 || undefined}>{count?.toLocaleString()}</td>
);

const OverdueCell = ({ count }: { count: number | undefined }) => (
  <td data-zero={count === 0 || undefined} data-bad={(count ?? 0) > 0 || undefined}>
    {count?.toLocaleString()}
  </td>
);

const DaysCell = ({ days }: { days: number | null | undefined }) => (
  <td data-zero={days === null || undefined}>
    {days === null ? '–' : days === undefined ? '' : messages.days(days)}
  </td>
);
