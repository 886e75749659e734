import { ActionIcon } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';

interface IconActionProps {
  /** Accessible name: "Delete Ada's session". */
  label: string;
  icon: Icon;
  onClick: () => void;
}

/** A button with only an icon, as in the rows of a table. */
export function IconAction({ label, icon: Icon, onClick }: IconActionProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}
