import { Button, Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { commonMessages } from './messages.ts';

interface SortMenuProps {
  /** Labels by order, as in the API: `-severity`. */
  orders: Readonly<Record<string, string>>;
  order: string;
  onChange: (order: string) => void;
}

/** Selects the order of a list whose header is hidden. */
export const SortMenu = ({ orders, order, onChange }: SortMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        rightSection={<IconChevronDown size={14} aria-hidden />}
      >
        {commonMessages.display.sort(orders[order] ?? order)}
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.RadioGroup value={order} onChange={onChange}>
        {Object.entries(orders).map(([value, label]) => (
          <Menu.RadioItem key={value} value={value} closeMenuOnClick>
            {label}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Dropdown>
  </Menu>
);
