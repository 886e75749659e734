import { Pill } from '@mantine/core';

interface SelectedPillsProps {
  /** What they are: "People to add". */
  label: string;
  selected: readonly { value: string; label: string }[];
  onRemove: (value: string) => void;
}

/** What was chosen one by one, each with a button that leaves it out again. */
export function SelectedPills({ label, selected, onRemove: onLeaveOut }: SelectedPillsProps) {
  if (selected.length === 0) return null;
  return (
    <Pill.Group role="group" aria-label={label}>
      {selected.map(({ value, label: name }) => (
        <Pill
          key={value}
          withRemoveButton
          // Else keys do not reach it.
          removeButtonProps={{ 'aria-label': `Leave out ${name}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onLeaveOut(value)}
        >
          {name}
        </Pill>
      ))}
    </Pill.Group>
  );
}
