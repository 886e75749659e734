import { Button, Skeleton } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { fillSentence } from '../../components/fill-sentence.ts';
import { NewButton } from '../../components/page-actions.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Columns } from '../../components/section.tsx';
import { activeAssessmentsQuery } from '../../queries/assessments.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { useCanImport, usePermissions } from '../../session/permissions.ts';
import { HappeningNow, OwnTimer, WeekHours } from './activity.tsx';
import { FindingSection } from './finding-sections.tsx';
import { GettingStarted } from './getting-started.tsx';
import { homeMessages as messages } from './messages.ts';
import { type OtherTasks, OtherCounts, OtherSections, useOtherTasks } from './other-sections.tsx';
import { hasFindings, OpenSections, useSummaries } from './overview.tsx';
import { type Reader, type FindingSectionContent, useReader, useSections } from './sections.ts';
import classes from './home-page.module.css';

const AssessmentComparison = lazy(async () => ({
  default: (await import('./comparison.tsx')).AssessmentComparison,
}));
const OrganizationComparison = lazy(async () => ({
  default: (await import('./comparison.tsx')).OrganizationComparison,
}));

const readsFindings = (reader: Reader | undefined) => reader !== undefined && reader !== 'infrastructure';

/** What there is to do, and how things stand. Depends on who reads it. */
export function HomePage() {
  const reader = useReader();
  const { summaries } = useSummaries(readsFindings(reader));
  const isNew = summaries !== undefined && !hasFindings(summaries);
  return isNew ? (
    <PageLayout title="Home" isFullWidth>
      <GettingStarted />
    </PageLayout>
  ) : (
    <Tasks reader={reader} />
  );
}

function Tasks({ reader }: { reader: Reader | undefined }) {
  const sections = useSections(reader);
  const others = useOtherTasks(reader);
  const isRead = sections !== undefined && others !== undefined;
  return (
    <PageLayout
      title="Home"
      tabs={isRead && <Counts sections={sections} others={others} />}
      actions={<Actions />}
      isFullWidth
    >
      <Columns
        width="wide"
        label={messages.overview}
        aside={
          <>
            {readsFindings(reader) && (
              <>
                <OwnTimer />
                <OpenSections />
                {reader === 'staff' && <WeekHours />}
              </>
            )}
            <HappeningNow />
          </>
        }
      >
        {isRead ? (
          <>
            {sections.map((section) => (
              <FindingSection key={section.name} section={section} />
            ))}
            <OtherSections tasks={others} />
          </>
        ) : (
          <LoadingRows />
        )}
        {readsFindings(reader) && <ComparisonAfterPaint isStaff={reader === 'staff'} />}
      </Columns>
    </PageLayout>
  );
}

/** What there is to do, as a sentence of counts that lead to it. */
function Counts({ sections, others }: { sections: readonly FindingSectionContent[]; others: OtherTasks }) {
  const parts = sections.flatMap((section) => section.parts);
  const hasFailed = sections.some(({ error }) => error !== null);
  const isEmpty = parts.length + others.ending.length + others.failed.length + others.hosts.total === 0;
  return (
    <p className={classes.counts}>
      {isEmpty && !hasFailed && messages.nothing}
      {parts.map(({ search, count, total, isBad }) => (
        <Link key={JSON.stringify(search)} to="/vulnerabilities" search={listAddress(search)}>
          {fillSentence(count(total), {
            count: <b data-bad={isBad}>{total.toLocaleString()}</b>,
          })}
        </Link>
      ))}
      <OtherCounts tasks={others} />
    </p>
  );
}

function Actions() {
  const canImport = useCanImport();
  const canReport = usePermissions().allows('report');
  const { data: assessments = [] } = useQuery(activeAssessmentsQuery);
  return (
    <>
      {canImport && (
        <Button
          component={Link}
          to="/imports"
          variant="default"
          leftSection={<IconFileImport size={16} aria-hidden />}
        >
          {messages.import}
        </Button>
      )}
      {canReport && assessments.length > 0 && (
        <NewButton itemName={messages.newFinding} to="/vulnerabilities/new" />
      )}
    </>
  );
}

/** Reads its rows when the rest of the page has been painted. */
function ComparisonAfterPaint({ isStaff }: { isStaff: boolean }) {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => requestAnimationFrame(() => setPainted(true)));
    return () => cancelAnimationFrame(frame);
  }, []);
  if (!isPainted) return null;
  return <Suspense>{isStaff ? <OrganizationComparison /> : <AssessmentComparison />}</Suspense>;
}

const LoadingRows = () => (
  <div className={classes.loading} role="status" aria-label="Loading">
    {[0, 1, 2, 3, 4, 5].map((row) => (
      <Skeleton key={row} height={10} width={row % 3 === 0 ? '30%' : '70%'} />
    ))}
  </div>
);
