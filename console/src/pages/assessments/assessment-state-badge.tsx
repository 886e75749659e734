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

/** The state of an assessment, as an icon and a label. */
export function AssessmentStateBadge({ state }: { state: string }) {
  const Icon = ICONS[state] ?? IconQuestionMark;
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" style={{ verticalAlign: 'top' }}>
      <Icon size={15} aria-hidden />
      {assessmentStateLabel(state)}
    </Group>
  );
}

/** Returns the label of a state: "Active". */
export function assessmentStateLabel(state: string): string {
  return (state[0]?.toUpperCase() ?? '') + state.slice(1);
}
