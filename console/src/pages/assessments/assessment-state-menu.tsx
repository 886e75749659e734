import { Anchor, Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useUpdateAssessment, type VersionedAssessment } from '../../queries/assessments.ts';
import { ASSESSMENT_STATES, type AssessmentState } from '../../queries/enums.ts';
import { runningSessionsQuery } from '../../queries/testing-sessions.ts';
import { type VulnerabilitySearch, vulnerabilityTotalQuery } from '../../queries/vulnerabilities.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { notifyError } from '../../components/notifications.ts';
import { useIsStaff } from '../../session/permissions.ts';
import { assessmentMessages as messages } from './messages.ts';
import { AssessmentStateBadge, assessmentStateLabel } from './assessment-state-badge.tsx';

/**
 * Changes the state of an assessment. Asks first if that ends running testing sessions, or would complete it with
 * drafts.
 */
export function useStateChange({ uid, state }: VersionedAssessment) {
  const client = useQueryClient();
  const change = useUpdateAssessment(uid);
  const isStaff = useIsStaff() === true;
  const [confirmation, setConfirmation] = useState<{
    state: AssessmentState;
    testers: readonly string[];
    draftCount: number;
  }>();
  const drafts: VulnerabilitySearch = { assessment_id: [uid], draft: true };

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
      const [running, draftCount] = await Promise.all([
        state === 'active' ? client.fetchQuery({ ...runningSessionsQuery(uid), staleTime: 0 }) : [],
        isStaff && next === 'completed'
          ? client.fetchQuery({ ...vulnerabilityTotalQuery(drafts), staleTime: 0 })
          : 0,
      ]);
      const testers = running.map(({ tester }) => tester.name ?? tester.email);
      if (testers.length === 0 && draftCount === 0) set(next);
      else setConfirmation({ state: next, testers, draftCount });
    } catch (error) {
      notifyError(messages.stateFailed, error);
    }
  };
  const dialog = confirmation !== undefined && (
    <FormDialog
      title={messages.setState(confirmation.state)}
      submitLabel={
        confirmation.testers.length > 0
          ? messages.endSessions(confirmation.testers.length)
          : messages.complete
      }
      isDestructive={confirmation.testers.length > 0}
      isFinal
      onSubmit={() => set(confirmation.state)}
      onClose={() => setConfirmation(undefined)}
    >
      {confirmation.testers.length > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {messages.endedSessions(confirmation.testers)}
        </Text>
      )}
      {confirmation.draftCount > 0 && (
        <Text size="sm">
          {messages.hasDrafts(confirmation.draftCount)}{' '}
          <Anchor
            size="sm"
            underline="always"
            renderRoot={(props) => <Link to="/vulnerabilities" search={drafts} {...props} />}
          >
            {messages.showDrafts}
          </Anchor>
        </Text>
      )}
    </FormDialog>
  );
  return { choose: (next: AssessmentState) => void choose(next), dialog };
}

interface AssessmentStateMenuProps {
  state: AssessmentState;
  onChoose: (state: AssessmentState) => void;
}

/** The state of an assessment, and a menu with the others. */
export const AssessmentStateMenu = ({ state, onChoose }: AssessmentStateMenuProps) => (
  <Menu position="bottom-start">
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
        <Menu.Item key={option} disabled={option === state} onClick={() => onChoose(option)}>
          <AssessmentStateBadge state={option} />
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);
