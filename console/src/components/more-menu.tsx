import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { commonMessages } from './messages.ts';

interface MoreMenuProps {
  /** Accessible name; by default, that of a page. */
  label?: string;
  /** Items. */
  children: ReactNode;
}

/** Further actions of a page or a row; deletion is last, in red. */
export const MoreMenu = ({ label = commonMessages.moreActions, children }: MoreMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon data-more-actions variant="subtle" color="gray" size={32} aria-label={label} title={label}>
        <IconDots size={16} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);
