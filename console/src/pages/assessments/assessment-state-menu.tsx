import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUpdateAssessment, type VersionedAssessment } from '../../queries/assessments.ts';
import { runningSessions } from '../../queries/testing-sessions.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { notifyError } from '../../components/notifications.tsx';
import { type AssessmentState, ASSESSMENT_STATES } from './search-params.ts';
import { AssessmentStateBadge, assessmentStateLabel } from './assessment-state-badge.tsx';

/** The state of an assessment, which changes in place; what a change would end is asked first. */
export function AssessmentStateMenu({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, state } = assessment;
  const client = useQueryClient();
  const change = useUpdateAssessment(uid);
  const [asked, setAsked] = useState<{ state: AssessmentState; testers: readonly string[] }>();

  const set = (next: AssessmentState) => {
    setAsked(undefined);
    change.mutate(
      { set: { state: next }, message: `The assessment is ${next}.` },
      { onError: (error) => notifyError('The state could not be changed', error) },
    );
  };
  const choose = async (next: AssessmentState) => {
    if (next === state) return;
    try {
      const running =
        state === 'active' ? await client.fetchQuery({ ...runningSessions(uid), staleTime: 0 }) : [];
      if (running.length === 0) set(next);
      else setAsked({ state: next, testers: running.map(({ tester }) => tester.name ?? tester.email) });
    } catch (error) {
      notifyError('The state could not be changed', error);
    }
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconChevronDown size={14} aria-hidden />}
            aria-label={`State: ${assessmentStateLabel(state)}`}
          >
            <AssessmentStateBadge state={state} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ASSESSMENT_STATES.map((each) => (
            <Menu.Item key={each} disabled={each === state} onClick={() => void choose(each)}>
              <AssessmentStateBadge state={each} />
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {asked !== undefined && (
        <FormDialog
          title={`Set it to ${asked.state}`}
          submitLabel={asked.testers.length === 1 ? 'End it and go on' : 'End them and go on'}
          isDestructive
          onSubmit={() => set(asked.state)}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {asked.testers.length === 1
              ? 'One testing session runs and would end now: that of '
              : `${asked.testers.length} testing sessions run and would end now: those of `}
            {asked.testers.join(', ')}. Setting the state back does not start them again.
          </Text>
        </FormDialog>
      )}
    </>
  );
}
