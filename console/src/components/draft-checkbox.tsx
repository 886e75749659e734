import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { assessmentQuery } from '../queries/assessments.ts';
import { useIsStaff } from '../session/permissions.ts';
import { commonMessages } from './messages.ts';

const messages = commonMessages.draft;

interface DraftCheckboxProps {
  label: string;
  /** Uid of the assessment; empty if none is chosen. */
  assessmentUid: string;
  /** Undefined for the default of the assessment. */
  value: boolean | undefined;
  onChange: (isDraft: boolean | undefined) => void;
}

/** Lets staff choose whether new vulnerabilities of an assessment are drafts; renders nothing for others. */
export function DraftCheckbox({ label, assessmentUid, value, onChange }: DraftCheckboxProps) {
  const isEnabled = useIsStaff() === true && assessmentUid !== '';
  const { data: assessment } = useQuery({ ...assessmentQuery(assessmentUid), enabled: isEnabled });
  const isFixed = assessment?.drafts === 'second_person';
  useEffect(() => {
    // A choice that was stored in the browser may be older than the policy, and the server would refuse it.
    if (isFixed && value !== undefined) onChange(undefined);
    // onChange is a new function on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isFixed, value]);
  if (!isEnabled || assessment === undefined) return null;
  return (
    <Checkbox
      label={label}
      description={isFixed ? messages.secondPersonHint : messages.hint}
      disabled={isFixed}
      checked={isFixed || (value ?? assessment.drafts === 'on')}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
