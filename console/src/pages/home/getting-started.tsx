import { Button } from '@mantine/core';
import { IconCheck, IconFileImport, IconPencil, IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { Time } from '../../components/time.tsx';
import { activeAssessmentsQuery } from '../../queries/assessments.ts';
import {
  currentUserQuery,
  useCanCreateAssessments,
  useCanImport,
  usePermissions,
} from '../../session/permissions.ts';
import { homeMessages } from './messages.ts';
import classes from './getting-started.module.css';

const messages = homeMessages.start;

const AssessmentForm = lazy(async () => ({
  default: (await import('../assessments/assessment-form.tsx')).AssessmentForm,
}));

/** The steps to the first finding, in place of the page. */
export function GettingStarted() {
  const { data: user } = useQuery(currentUserQuery);
  const { data: assessments } = useQuery(activeAssessmentsQuery);
  const canCreate = useCanCreateAssessments();
  const canImport = useCanImport();
  const { allows } = usePermissions();
  const canReport = allows('report');
  const assessment = assessments?.[0];
  if (!canCreate && !canImport && !canReport) return <p className={classes.hint}>{messages.member}</p>;
  return (
    <div className={classes.start}>
      <header>
        <h2>{messages.title}</h2>
        <p>{messages.hint}</p>
      </header>
      <ol className={classes.steps}>
        <Step
          number={1}
          state={assessment === undefined ? 'current' : 'done'}
          title={messages.assessment}
          hint={
            assessment === undefined
              ? messages.assessmentHint
              : fillSentence(messages.assessmentCreated, {
                  assessment: (
                    <Link to="/assessments/$uid" params={{ uid: assessment.uid }}>
                      <AssessmentName uid={assessment.uid} />
                    </Link>
                  ),
                  at: <Time at={assessment.created_at} />,
                })
          }
        >
          {assessment === undefined && canCreate && <CreateAssessment />}
        </Step>
        <Step
          number={2}
          state={assessment === undefined ? 'later' : 'current'}
          title={messages.report}
          hint={messages.reportHint}
        >
          {assessment !== undefined && (
            <>
              {canImport && (
                <Button component={Link} to="/imports" leftSection={<IconFileImport size={16} aria-hidden />}>
                  {messages.chooseReport}
                </Button>
              )}
              {canReport && (
                <Button
                  component={Link}
                  to="/vulnerabilities/new"
                  variant="default"
                  leftSection={<IconPencil size={16} aria-hidden />}
                >
                  {messages.writeFinding}
                </Button>
              )}
            </>
          )}
        </Step>
        <Step number={3} state="later" title={messages.check} hint={messages.checkHint} />
      </ol>
      {user?.admin === true && (
        <div className={classes.note}>
          <p>{messages.afterwards}</p>
          <Button
            component={Link}
            to="/people"
            size="xs"
            variant="default"
            leftSection={<IconUserPlus size={16} aria-hidden />}
          >
            {messages.invite}
          </Button>
        </div>
      )}
    </div>
  );
}

function CreateAssessment() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{messages.assessment}</Button>
      {isOpen && (
        <Suspense>
          <AssessmentForm onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

interface StepProps {
  number: number;
  state: 'done' | 'current' | 'later';
  title: string;
  hint: ReactNode;
  children?: ReactNode;
}

const Step = ({ number, state, title, hint, children }: StepProps) => (
  <li data-state={state} aria-current={state === 'current' ? 'step' : undefined}>
    <span className={classes.number}>
      {state === 'done' ? <IconCheck size={16} aria-label={messages.done} role="img" /> : number}
    </span>
    <div>
      <h3>{title}</h3>
      <p>{hint}</p>
      {children !== undefined && <div className={classes.actions}>{children}</div>}
    </div>
  </li>
);
