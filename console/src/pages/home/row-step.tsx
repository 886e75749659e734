import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { nextStepMessages } from '../../components/next-step-messages.ts';
import { useBulkUpdate } from '../../queries/bulk-update.ts';
import type { SectionRow } from '../../queries/home.ts';
import { nextStepOf, statusOfStep } from '../../queries/next-steps.ts';
import { statusName } from '../../queries/statuses.ts';
import { useIsStaff, useListRights } from '../../session/permissions.ts';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';

const RequestRetestDialog = lazy(async () => ({
  default: (await import('../../components/next-step.tsx')).RequestRetestDialog,
}));

interface RowStepProps {
  row: SectionRow;
}

/** A button for the next step of a finding. Steps that need a review first open the page of the finding. */
export function RowStep({ row }: RowStepProps) {
  const { id, title } = row;
  const rights = useListRights()(row);
  const isStaff = useIsStaff() === true;
  const change = useBulkUpdate();
  const [isAsking, setAsking] = useState(false);
  const step = nextStepOf({ id, status_id: row.status_id, rights: { ...rights, decide_retest: isStaff } });
  if (!rights.comment) return null;
  const common = { size: 'xs', variant: 'default' } as const;
  if (step !== 'startFix' && step !== 'requestRetest') {
    const label =
      step === 'confirm' ? messages.review : step === 'decideRetest' ? messages.decide : messages.open;
    return (
      <span className={classes.step}>
        <Button
          {...common}
          component={Link}
          to={`/vulnerabilities/${id}`}
          aria-label={messages.stepOf(label, title)}
        >
          {label}
        </Button>
      </span>
    );
  }
  const label = nextStepMessages.steps[step];
  const run = () => {
    const statusId = statusOfStep(step);
    if (statusId === undefined) setAsking(true);
    else change.mutate({ ids: [id], set: { status_id: statusId }, label: statusName(statusId) });
  };
  return (
    <span className={classes.step}>
      <Button {...common} aria-label={messages.stepOf(label, title)} onClick={run}>
        {label}
      </Button>
      <Suspense>{isAsking && <RequestRetestDialog id={id} onClose={() => setAsking(false)} />}</Suspense>
    </span>
  );
}
