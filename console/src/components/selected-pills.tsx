import { Pill } from '@mantine/core';

interface ChosenPillsProps {
  /** What they are: "People to add". */
  label: string;
  chosen: readonly { value: string; label: string }[];
  onLeaveOut: (value: string) => void;
}

/** What was chosen one by one, each with a button that leaves it out again. */
export function ChosenPills({ label, chosen, onLeaveOut }: ChosenPillsProps) {
  if (chosen.length === 0) return null;
  return (
    <Pill.Group role="group" aria-label={label}>
      {chosen.map(({ value, label: name }) => (
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
