import { Pill } from '@mantine/core';
import { commonMessages } from './messages.ts';

interface SelectedPillsProps {
  /** "People to add". */
  label: string;
  selected: readonly { value: string; label: string }[];
  onRemove: (value: string) => void;
}

/** Selected items, each with a remove button. */
export function SelectedPills({ label, selected, onRemove }: SelectedPillsProps) {
  if (selected.length === 0) return null;
  return (
    <Pill.Group role="group" aria-label={label}>
      {selected.map(({ value, label: name }) => (
        <Pill
          key={value}
          withRemoveButton
          // Mantine hides the button from the keyboard by default.
          removeButtonProps={{
            'aria-label': commonMessages.list.remove(name),
            'aria-hidden': false,
            tabIndex: 0,
          }}
          onRemove={() => onRemove(value)}
        >
          {name}
        </Pill>
      ))}
    </Pill.Group>
  );
}
