import { IconCalendarEvent, IconFileAlert, IconServer } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { Day, Time } from '../../components/time.tsx';
import { activeAssessmentsQuery } from '../../queries/assessments.ts';
import type { Assessment, ImportJob } from '../../queries/client.ts';
import { failedImportsQuery, newHostsQuery, type NewHost, SECTION_ROWS } from '../../queries/home.ts';
import { useSelectedOrganization } from '../../session/selected-organization.ts';
import { daysFromToday } from './dates.ts';
import { homeMessages as messages } from './messages.ts';
import type { Reader } from './sections.ts';
import { linkToRest, TaskRow, TaskSection } from './task-section.tsx';
import classes from './home-page.module.css';

const DAYS_AHEAD = 7;

/** What a reader may act on besides findings. */
export interface OtherTasks {
  ending: readonly Assessment[];
  failed: readonly ImportJob[];
  hosts: { rows: readonly NewHost[]; total: number };
}

const NO_HOSTS = { rows: [], total: 0 } as const;

/** @returns undefined until all is read; what cannot be read is empty */
export function useOtherTasks(reader: Reader | undefined): OtherTasks | undefined {
  const seesImports = reader === 'staff' || reader === 'infrastructure';
  const assessments = useQuery({ ...activeAssessmentsQuery, enabled: reader === 'staff' });
  const failed = useQuery({ ...failedImportsQuery, enabled: seesImports });
  const hosts = useQuery({ ...newHostsQuery, enabled: reader === 'infrastructure' });
  const selected = useSelectedOrganization();
  const isOfSelected = ({ organization_uid: uid }: { organization_uid: string | null }) =>
    selected === undefined || uid === selected;
  if (reader === undefined || [assessments, failed, hosts].some(({ isLoading }) => isLoading))
    return undefined;
  const [today, until] = [daysFromToday(0), daysFromToday(DAYS_AHEAD)];
  const ends = ({ ends_on: end }: Assessment) => end ?? '';
  return {
    ending:
      reader === 'staff'
        ? (assessments.data ?? [])
            .filter(isOfSelected)
            .filter((assessment) => ends(assessment) >= today && ends(assessment) <= until)
            .toSorted((a, b) => ends(a).localeCompare(ends(b)))
        : [],
    failed: (failed.data ?? []).filter(isOfSelected),
    hosts: hosts.data ?? NO_HOSTS,
  };
}

const FAILED = { state: ['failed' as const] };
const NEWEST_HOSTS = { assetType: ['host' as const], sort: '-createdAt' };

/** The sections of these tasks; empty ones are absent. */
export function OtherSections({ tasks: { ending, failed, hosts } }: { tasks: OtherTasks }) {
  return (
    <>
      {ending.length > 0 && (
        <TaskSection
          title={messages.ending}
          total={ending.length}
          more={linkToRest(ending.length, SECTION_ROWS, (text) => (
            <Link to="/assessments" search={{ state: ['active'], sort: 'ends_on' }} className={classes.link}>
              {text}
            </Link>
          ))}
        >
          {ending.slice(0, SECTION_ROWS).map((assessment) => (
            <EndingRow key={assessment.uid} assessment={assessment} />
          ))}
        </TaskSection>
      )}
      {failed.length > 0 && (
        <TaskSection
          title={messages.failedImports}
          total={failed.length}
          more={linkToRest(failed.length, SECTION_ROWS, (text) => (
            <Link to="/imports" search={FAILED} className={classes.link}>
              {text}
            </Link>
          ))}
        >
          {failed.slice(0, SECTION_ROWS).map((job) => (
            <FailedRow key={job.id} job={job} />
          ))}
        </TaskSection>
      )}
      {hosts.total > 0 && (
        <TaskSection
          title={messages.newHosts}
          total={hosts.total}
          more={linkToRest(hosts.total, hosts.rows.length, (text) => (
            <Link to="/assets" search={NEWEST_HOSTS} className={classes.link}>
              {text}
            </Link>
          ))}
        >
          {hosts.rows.map((host) => (
            <HostRow key={host.uid} host={host} />
          ))}
        </TaskSection>
      )}
    </>
  );
}

/** The counts of these tasks for the sentence of the page. */
export function OtherCounts({ tasks: { ending, failed, hosts } }: { tasks: OtherTasks }) {
  const { counts } = messages;
  const count = (value: number) => <b>{value.toLocaleString()}</b>;
  return (
    <>
      {ending.length > 0 && (
        <Link to="/assessments" search={{ state: ['active'], sort: 'ends_on' }}>
          {fillSentence(counts.ending(ending.length), { count: count(ending.length) })}
        </Link>
      )}
      {failed.length > 0 && (
        <Link to="/imports" search={FAILED}>
          {fillSentence(counts.failed(failed.length), { count: count(failed.length) })}
        </Link>
      )}
      {hosts.total > 0 && (
        <Link to="/assets" search={NEWEST_HOSTS}>
          {fillSentence(counts.hosts(hosts.total), { count: count(hosts.total) })}
        </Link>
      )}
    </>
  );
}

const EndingRow = ({ assessment }: { assessment: Assessment }) => (
  <TaskRow
    lead={<IconCalendarEvent size={16} stroke={1.75} aria-hidden />}
    title={
      <Link to="/assessments/$uid" params={{ uid: assessment.uid }} className={classes.title} dir="auto">
        {assessment.name}
      </Link>
    }
    facts={
      <>
        <OrganizationName uid={assessment.organization_uid} />
        <span>{messages.openCount(assessment.open_vulnerability_count)}</span>
      </>
    }
    reason={fillSentence(messages.ends, { on: <Day on={assessment.ends_on ?? ''} /> })}
  />
);

const FailedRow = ({
  job: { id, file, assessment_id: uid, error, finished_at, created_at },
}: {
  job: ImportJob;
}) => (
  <TaskRow
    lead={<IconFileAlert size={16} stroke={1.75} aria-hidden className={classes.bad} />}
    title={
      <Link to="/imports/$id" params={{ id: String(id) }} className={classes.title} dir="auto">
        {file.filename}
      </Link>
    }
    facts={
      <>
        {uid !== null && (
          <span className={classes.cut}>
            <AssessmentName uid={uid} />
          </span>
        )}
        {error?.line !== undefined && <span>{messages.stoppedAtLine(error.line)}</span>}
        <span className={classes.detail}>{error?.message}</span>
      </>
    }
    reason={<Time at={finished_at ?? created_at} />}
  />
);

const HostRow = ({ host: { uid, name, location, createdAt, openPortCount } }: { host: NewHost }) => (
  <TaskRow
    lead={<IconServer size={16} stroke={1.75} aria-hidden />}
    title={
      <Link to="/assets/$uid" params={{ uid }} className={classes.title} dir="auto">
        {location}
      </Link>
    }
    facts={
      <>
        {name !== '' && <span className={classes.cut}>{name}</span>}
        <span>{messages.openPorts(openPortCount ?? 0)}</span>
      </>
    }
    reason={<Time at={createdAt} />}
  />
);
