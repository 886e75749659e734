import { useQuery } from '@tanstack/react-query';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { Time } from '../../components/time.tsx';
import { assessmentQuery } from '../../queries/assessments.ts';
import type { ImportJob } from '../../queries/client.ts';
import { useIsStaff } from '../../session/permissions.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';
import { otherChanges } from './outcome.ts';

const messages = importMessages.sentence;

const strong = (count: number) => <b>{count.toLocaleString()}</b>;

interface SentenceProps {
  job: ImportJob;
}

/** What a report would change, in a sentence. */
export function PreviewSentence({ job }: SentenceProps) {
  const { assessment_id: uid, result, options } = job;
  const isStaff = useIsStaff() === true;
  const { data: assessment } = useQuery({ ...assessmentQuery(uid ?? ''), enabled: uid !== null });
  if (result === null) return null;
  const before = assessment?.open_vulnerability_count;
  const { findings_created: added, findings_reopened: back, findings_gone: gone } = result;
  const others = otherChanges(result).join(', ');
  // Drafts do not count as open.
  const isDraft = isStaff && options.draft === true;
  return (
    <p className={classes.outcome}>
      {uid !== null &&
        before !== undefined &&
        (added + back + gone === 0
          ? fillSentence(messages.same, { assessment: <AssessmentName uid={uid} />, before: strong(before) })
          : fillSentence(messages.preview(gone, options.when_gone), {
              assessment: <AssessmentName uid={uid} />,
              before: strong(before),
              after: strong(before + (isDraft ? 0 : added) + back - (options.when_gone === 'fix' ? gone : 0)),
            }))}
      {uid === null && messages.hosts(others)}
      <small>
        {uid !== null && others !== '' && `${messages.also(others)} `}
        {messages.notYet}
      </small>
    </p>
  );
}

/** What an import has changed, in a sentence. */
export function ResultSentence({ job }: SentenceProps) {
  const { assessment_id: uid, result, created_by: by, created_at } = job;
  if (result === null) return null;
  const { findings_created: added, findings_reopened: back, findings_gone: gone } = result;
  const others = otherChanges(result).join(', ');
  return (
    <p className={classes.outcome}>
      {uid === null
        ? messages.hosts(others)
        : fillSentence(messages.result(back, gone), {
            added: <b>{messages.added(added)}</b>,
            assessment: <AssessmentName uid={uid} />,
          })}
      <small>
        {uid !== null && others !== '' && `${messages.also(others)} `}
        {fillSentence(messages.importedBy, {
          name: <bdi>{by?.name ?? by?.email ?? importMessages.commandLine}</bdi>,
          at: <Time at={created_at} />,
        })}
      </small>
    </p>
  );
}
