import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUpdateAssessment, type VersionedAssessment } from '../../queries/assessments.ts';
import { ASSESSMENT_STATES, type AssessmentState } from '../../queries/enums.ts';
import { runningSessionsQuery } from '../../queries/testing-sessions.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { notifyError } from '../../components/notifications.tsx';
import { assessmentMessages as messages } from './messages.ts';
import { AssessmentStateBadge, assessmentStateLabel } from './assessment-state-badge.tsx';

/** Changes the state of an assessment. Asks first if that ends running testing sessions. */
export function AssessmentStateMenu({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, state } = assessment;
  const client = useQueryClient();
  const change = useUpdateAssessment(uid);
  const [confirmation, setConfirmation] = useState<{ state: AssessmentState; testers: readonly string[] }>();

  const set = (next: AssessmentState) => {
    setConfirmation(undefined);
    change.mutate(
      { set: { state: next }, message: messages.stateChanged(next) },
      { onError: (error) => notifyError(messages.stateFailed, error) },
    );
  };
  const choose = async (next: AssessmentState) => {
    if (next === state) return;
    try {
      const running =
        state === 'active' ? await client.fetchQuery({ ...runningSessionsQuery(uid), staleTime: 0 }) : [];
      if (running.length === 0) set(next);
      else
        setConfirmation({ state: next, testers: running.map(({ tester }) => tester.name ?? tester.email) });
    } catch (error) {
      notifyError(messages.stateFailed, error);
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
            aria-label={messages.stateLabel(assessmentStateLabel(state))}
          >
            <AssessmentStateBadge state={state} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ASSESSMENT_STATES.map((option) => (
            <Menu.Item key={option} disabled={option === state} onClick={() => void choose(option)}>
              <AssessmentStateBadge state={option} />
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {confirmation !== undefined && (
        <FormDialog
          title={messages.setState(confirmation.state)}
          submitLabel={messages.endSessions(confirmation.testers.length)}
          isDestructive
          onSubmit={() => set(confirmation.state)}
          onClose={() => setConfirmation(undefined)}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {messages.endedSessions(confirmation.testers)}
          </Text>
        </FormDialog>
      )}
    </>
  );
}
