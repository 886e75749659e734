import { Badge } from '@mantine/core';

/** By what the status means for the work: new, open, closed. */
const COLORS = ['blue', 'orange', 'green'] as const;

/** The status of a vulnerability. */
export function StatusBadge({ name, flow }: { name: string; flow: number }) {
  return (
    <Badge variant="light" color={COLORS[flow] ?? 'gray'} tt="none" fw={500} radius="sm">
      {name}
    </Badge>
  );
}
