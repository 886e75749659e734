import { Button, Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';

interface ChoiceMenuProps {
  /** @returns the text of the button, with the chosen label */
  label: (choice: string) => string;
  /** Labels by value. */
  choices: Readonly<Record<string, string>>;
  value: string;
  onChange: (value: string) => void;
}

/** A button of a toolbar that selects one of several values. */
export const ChoiceMenu = ({ label, choices, value, onChange }: ChoiceMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        rightSection={<IconChevronDown size={14} aria-hidden />}
      >
        {label(choices[value] ?? value)}
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.RadioGroup value={value} onChange={onChange}>
        {Object.entries(choices).map(([one, text]) => (
          <Menu.RadioItem key={one} value={one} closeMenuOnClick>
            {text}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Dropdown>
  </Menu>
);
