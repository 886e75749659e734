import { Group } from '@mantine/core';
import {
  IconCircleCheck,
  IconCircleDashed,
  IconPlayerPause,
  IconPlayerPlay,
  IconQuestionMark,
} from '@tabler/icons-react';

const ICONS: Readonly<Record<string, typeof IconCircleCheck>> = {
  pending: IconCircleDashed,
  active: IconPlayerPlay,
  paused: IconPlayerPause,
  completed: IconCircleCheck,
};

/** The state of an assessment, by its shape and its word. */
export function AssessmentStateBadge({ state }: { state: string }) {
  const Icon = ICONS[state] ?? IconQuestionMark;
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" style={{ verticalAlign: 'top' }}>
      <Icon size={15} aria-hidden />
      {assessmentStateLabel(state)}
    </Group>
  );
}

/** @returns the word of a state: "Active" */
export function assessmentStateLabel(state: string): string {
  return (state[0]?.toUpperCase() ?? '') + state.slice(1);
}
