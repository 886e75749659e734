import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useChangeAssessment, type VersionedAssessment } from '../../queries/assessments.ts';
import { runningSessions } from '../../queries/testing-sessions.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { tellError } from '../../components/notifications.tsx';
import { type AssessmentState, STATES } from './search-params.ts';
import { StateMark, stateWord } from './assessment-state-badge.tsx';

/** The state of an assessment, which changes in place; what a change would end is asked first. */
export function StateMenu({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, state } = assessment;
  const client = useQueryClient();
  const change = useChangeAssessment(uid);
  const [asked, setAsked] = useState<{ state: AssessmentState; testers: readonly string[] }>();

  const set = (next: AssessmentState) => {
    setAsked(undefined);
    change.mutate(
      { set: { state: next }, told: `The assessment is ${next}.` },
      { onError: (error) => tellError('The state could not be changed', error) },
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
      tellError('The state could not be changed', error);
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
            aria-label={`State: ${stateWord(state)}`}
          >
            <StateMark state={state} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {STATES.map((each) => (
            <Menu.Item key={each} disabled={each === state} onClick={() => void choose(each)}>
              <StateMark state={each} />
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {asked !== undefined && (
        <FormDialog
          title={`Set it to ${asked.state}`}
          save={asked.testers.length === 1 ? 'End it and go on' : 'End them and go on'}
          grave
          onSave={() => set(asked.state)}
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
