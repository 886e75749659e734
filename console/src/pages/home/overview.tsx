import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { daysWithData, openByDay, totals } from '../../components/charts/backlog.ts';
import { BacklogChart, BacklogTable } from '../../components/charts/backlog-chart.tsx';
import { Meter } from '../../components/charts/bars.tsx';
import { SeverityMark } from '../../components/marks.tsx';
import { PageSection } from '../../components/section.tsx';
import { SEVERITIES } from '../../queries/enums.ts';
import { OPEN_SEARCH, summaryQuery, type VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { useOfOrganization } from '../../session/selected-organization.ts';
import { LoadError } from './load-error.tsx';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';

/** Days of data from which a line says something. */
const MIN_DAYS = 7;
/** The key in `open_by_age`, the minimum age and the exclusive maximum age in days. */
const AGE_GROUPS = [
  ['days_7', 0, 7],
  ['days_30', 7, 30],
  ['days_90', 30, 90],
  ['older', 90, undefined],
] as const;
const DAY_MS = 86_400_000;

/** Reads the summary of each severity (operation 83). */
export function useSummaries(enabled = true) {
  const ofOrganization = useOfOrganization();
  const results = useQueries({
    queries: SEVERITIES.map((severity) => ({
      ...summaryQuery({ severity: [severity], ...ofOrganization }),
      enabled,
    })),
  });
  const summaries = results.flatMap(({ data }) => data ?? []);
  return {
    summaries: summaries.length === SEVERITIES.length ? summaries : undefined,
    error: results.find(({ error }) => error !== null)?.error ?? null,
    retry: () => results.forEach(({ error, refetch }) => error !== null && void refetch()),
  };
}

type Summaries = NonNullable<ReturnType<typeof useSummaries>['summaries']>;

/** @returns whether there is any finding */
export const hasFindings = (summaries: Summaries): boolean =>
  summaries.some(({ by_phase: { new: ofNew, open, closed } }) => ofNew + open + closed > 0);

/** The findings that are open, and how many were in the last 90 days. */
export function OpenSections() {
  const { summaries, error, retry } = useSummaries();
  if (error !== null)
    return (
      <PageSection title={messages.openFindings}>
        <LoadError error={error} onRetry={retry} />
      </PageSection>
    );
  if (summaries === undefined) return <PageSection title={messages.openFindings}>{null}</PageSection>;
  return (
    <>
      <OpenFindings summaries={summaries} />
      <Ages summaries={summaries} />
    </>
  );
}

function OpenFindings({ summaries }: { summaries: Summaries }) {
  const [isTable, setTable] = useState(false);
  const ofOrganization = useOfOrganization();
  const dates = (summaries[0]?.days ?? []).map(({ date }) => date);
  const series = summaries.map(({ by_phase: { new: ofNew, open }, days }, index) => ({
    name: SEVERITIES[index] ?? '',
    values: openByDay(ofNew + open, days),
  }));
  const sums = totals(series);
  const hasCourse = daysWithData(sums) >= MIN_DAYS;
  const change = (sums.at(-1) ?? 0) - (sums[0] ?? 0);
  const Course = isTable ? BacklogTable : BacklogChart;
  return (
    <PageSection
      title={messages.openFindings}
      action={
        hasCourse && (
          <button type="button" className={classes.link} onClick={() => setTable(!isTable)}>
            {isTable ? messages.showChart : messages.showTable}
          </button>
        )
      }
    >
      <p className={classes.figure}>
        <Link to="/vulnerabilities" search={{ ...OPEN_SEARCH, ...ofOrganization }} className={classes.big}>
          {(sums.at(-1) ?? 0).toLocaleString()}
        </Link>
        {hasCourse && <span data-good={change < 0 || undefined}>{messages.trend(change, dates.length)}</span>}
      </p>
      <ul className={classes.legend}>
        {series.map(({ name, values }, index) => (
          <li key={name}>
            <Link
              to="/vulnerabilities"
              search={{ ...OPEN_SEARCH, ...ofOrganization, severity: [SEVERITIES[index] ?? 'Critical'] }}
              aria-label={messages.severity(name, values.at(-1) ?? 0)}
            >
              <SeverityMark severity={SEVERITIES[index] ?? 'Critical'} size="sm" />
              <b>{(values.at(-1) ?? 0).toLocaleString()}</b>
            </Link>
          </li>
        ))}
      </ul>
      {hasCourse && <Course dates={dates} series={series} />}
    </PageSection>
  );
}

/**
 * @returns a search for open vulnerabilities that are at least `from` and less than `to` days old. Like the server,
 *   counts calendar days in UTC; today is day 0
 */
function ageGroupSearch(from: number, to: number | undefined): VulnerabilitySearch {
  const daysAgo = (days: number) =>
    new Date((Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS).toISOString().replace('.000', '');
  return {
    ...OPEN_SEARCH,
    ...(to === undefined ? {} : { created_since: daysAgo(to) }),
    ...(from === 0 ? {} : { created_until: daysAgo(from) }),
  };
}

function Ages({ summaries }: { summaries: Summaries }) {
  const ofOrganization = useOfOrganization();
  const ages = AGE_GROUPS.map(([age, from, to]) => ({
    age,
    count: summaries.reduce((sum, { open_by_age }) => sum + open_by_age[age], 0),
    search: { ...ageGroupSearch(from, to), ...ofOrganization },
  }));
  const max = Math.max(...ages.map(({ count }) => count));
  return (
    <PageSection
      title={messages.byAge}
      action={
        <Link
          to="/vulnerabilities"
          search={{ ...OPEN_SEARCH, ...ofOrganization, sort: 'resolved_at' }}
          className={classes.link}
        >
          {messages.oldestFirst}
        </Link>
      }
    >
      <ul className={classes.meters}>
        {ages.map(({ age, count, search }) => (
          <li key={age}>
            <Link to="/vulnerabilities" search={search}>
              <span>{messages.ages[age]}</span>
              <Meter value={count} max={max} />
              <b>{count.toLocaleString()}</b>
            </Link>
          </li>
        ))}
      </ul>
    </PageSection>
  );
}
