import { Button } from '@mantine/core';
import { IconArrowBackUp, IconEyeOff, IconListCheck, type Icon } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ImportJob } from '../../queries/client.ts';
import {
  listAddress,
  OPEN_SEARCH,
  type VulnerabilitySearch,
  vulnerabilityTotalQuery,
} from '../../queries/vulnerabilities.ts';
import { OutsideScopeNote } from '../assessments/outside-scope.tsx';
import { searchOfKind } from './imported-findings.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const messages = importMessages.leftToDo;

/** Id of the status of a finding that nobody has looked at. */
const PENDING_REVIEW = 1;

/** What an import leaves to its readers: to review, to decide, to look at, and hosts outside the scope. */
export function LeftToDo({ job }: { job: ImportJob }) {
  const { result, assessment_id: uid } = job;
  const review = searchOfKind(job, 'new');
  const tasks = [
    {
      kind: 'review',
      icon: IconListCheck,
      search: review && { ...review, status_id: [PENDING_REVIEW] },
      isDue: (result?.findings_created ?? 0) > 0,
    },
    {
      kind: 'decide',
      icon: IconEyeOff,
      search: searchOfKind(job, 'gone'),
      isDue: (result?.findings_gone ?? 0) > 0,
    },
    {
      kind: 'look',
      icon: IconArrowBackUp,
      search: searchOfKind(job, 'reopened'),
      isDue: (result?.findings_reopened ?? 0) > 0,
    },
  ] as const;
  return (
    <div className={classes.left}>
      <h2>{messages.title}</h2>
      {tasks.map(
        ({ kind, icon, search, isDue }) =>
          isDue && search !== undefined && <Task key={kind} kind={kind} icon={icon} search={search} />,
      )}
      {uid !== null && (result?.assets_outside_scope ?? 0) > 0 && (
        <div className={classes.alert}>
          <OutsideScopeNote uid={uid} />
        </div>
      )}
    </div>
  );
}

interface TaskProps {
  kind: 'review' | 'decide' | 'look';
  icon: Icon;
  search: VulnerabilitySearch;
}

/** Absent once everything is done. */
function Task({ kind, icon: TaskIcon, search }: TaskProps) {
  const { data: count = 0 } = useQuery(vulnerabilityTotalQuery({ ...search, ...OPEN_SEARCH }));
  if (count === 0) return null;
  const { title, hint, button } = messages[kind];
  return (
    <section className={classes.task} aria-label={title(count)}>
      <TaskIcon size={16} stroke={1.75} aria-hidden />
      <span>
        <b>{title(count)}</b>
        <small>{hint}</small>
      </span>
      <Button
        size="xs"
        variant={kind === 'review' ? 'filled' : 'default'}
        aria-label={title(count)}
        renderRoot={(props) => <Link to="/vulnerabilities" search={listAddress(search)} {...props} />}
      >
        {button}
      </Button>
    </section>
  );
}
