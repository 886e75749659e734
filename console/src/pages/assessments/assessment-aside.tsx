import { Anchor, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { PersonMark } from '../../components/identity-marks.tsx';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import { commonMessages } from '../../components/messages.ts';
import { PageSection, Warning } from '../../components/section.tsx';
import { Time } from '../../components/time.tsx';
import { useAccess, type VersionedAssessment } from '../../queries/assessments.ts';
import { loadedRows } from '../../queries/paged-list.ts';
import { personName } from '../../queries/people.ts';
import { latestSessionsQuery, runningSessionsQuery } from '../../queries/testing-sessions.ts';
import { vulnerabilityTotalQuery } from '../../queries/vulnerabilities.ts';
import { currentUserQuery, useIsStaff } from '../../session/permissions.ts';
import classes from './assessment-page.module.css';
import { asideMessages as messages, assessmentMessages } from './messages.ts';
import { OutsideScopeNote } from './outside-scope.tsx';
import { TimerButton } from './timer.tsx';
import { hoursOfTesters } from './hours-of-testers.ts';

/** People shown; the others are a count. */
const MAX_PEOPLE = 6;

interface AsideProps {
  assessment: VersionedAssessment;
  /** Undefined without permission. */
  onEdit: (() => void) | undefined;
}

/** Warnings, who works on an assessment, and what it is about. */
export function AssessmentAside({ assessment, onEdit }: AsideProps) {
  const { uid, description, permissions } = assessment;
  const isStaff = useIsStaff() === true;
  return (
    <>
      <div className={classes.notes}>
        <OutsideScopeNote uid={uid} />
        {isStaff && <DraftsNote uid={uid} />}
      </div>
      {permissions?.read_vulnerabilities !== false && <Testers assessment={assessment} />}
      <PageSection
        title={messages.brief}
        action={
          onEdit !== undefined && (
            <Button size="xs" variant="subtle" onClick={onEdit}>
              Edit
            </Button>
          )
        }
      >
        {description !== '' && (
          <div className={classes.text}>
            <LazyMarkdown>{description}</LazyMarkdown>
          </div>
        )}
        <DescriptionList>
          {isStaff && (
            <DescriptionItem name="Drafts">
              {assessmentMessages.draftPolicies[assessment.drafts]}
            </DescriptionItem>
          )}
          <DescriptionItem name="Created">
            <Time at={assessment.created_at} exact />
          </DescriptionItem>
        </DescriptionList>
      </PageSection>
    </>
  );
}

/** The drafts that are to be published before the assessment is completed. */
function DraftsNote({ uid }: { uid: string }) {
  const drafts = { assessment_id: [uid], draft: true };
  const { data: count = 0 } = useQuery(vulnerabilityTotalQuery(drafts));
  if (count === 0) return null;
  return (
    <Warning>
      {messages.drafts(count)}{' '}
      <Anchor
        inherit
        underline="always"
        renderRoot={(props) => <Link to="/vulnerabilities" search={drafts} {...props} />}
      >
        {assessmentMessages.showDrafts}
      </Anchor>
    </Warning>
  );
}

/** Who has logged hours, who does now, and for admins who else has access. */
function Testers({ assessment }: { assessment: VersionedAssessment }) {
  const { uid } = assessment;
  const { data: user } = useQuery(currentUserQuery);
  const { data } = useQuery(latestSessionsQuery(uid));
  const { data: running = [] } = useQuery(runningSessionsQuery(uid));
  const testers = hoursOfTesters(data?.sessions ?? [], running);
  return (
    <PageSection
      title={messages.people}
      action={
        user?.admin === true && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/assessments/$uid" params={{ uid }} search={{ show: 'people' }} replace {...props} />
            )}
          >
            {messages.access}
          </Anchor>
        )
      }
    >
      <ul className={classes.people}>
        {testers.slice(0, MAX_PEOPLE).map(({ tester, hours, since }) => (
          <li key={tester.id}>
            <PersonMark person={tester} />
            <span>
              <bdi>
                {tester.id === user?.id ? commonMessages.person.you(personName(tester)) : personName(tester)}
              </bdi>
              {since !== undefined && (
                <small>
                  {messages.testingSince} <Time at={since} />
                </small>
              )}
            </span>
            {data?.isComplete === true && <b>{assessmentMessages.hours(hours)}</b>}
          </li>
        ))}
        {testers.length > MAX_PEOPLE && (
          <li className={classes.dim}>{commonMessages.andMore(testers.length - MAX_PEOPLE)}</li>
        )}
        {user?.admin === true && <Others uid={uid} testerIds={testers.map(({ tester }) => tester.id)} />}
      </ul>
      <TimerButton assessment={assessment} />
    </PageSection>
  );
}

function Others({ uid, testerIds }: { uid: string; testerIds: readonly number[] }) {
  const list = useAccess(uid);
  const others = loadedRows(list, ({ id }) => String(id)).filter(({ id }) => !testerIds.includes(id));
  if (others.length === 0) return null;
  return (
    <li>
      <span className={classes.marks}>
        {others.slice(0, MAX_PEOPLE).map((person) => (
          <PersonMark key={person.id} person={person} />
        ))}
      </span>
      <span className={classes.dim}>{messages.others(others.length)}</span>
    </li>
  );
}
