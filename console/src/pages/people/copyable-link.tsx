import { Group, TextInput } from '@mantine/core';
import { CopyButton } from '../../components/copy-button.tsx';

interface LinkToCopyProps {
  label: string;
  description: string;
  link: string;
}

/** A link that one gives to somebody. */
export function LinkToCopy({ label, description, link }: LinkToCopyProps) {
  return (
    <Group gap="xs" align="end">
      <TextInput
        style={{ flex: '1 1 200px' }}
        label={label}
        description={description}
        readOnly
        value={link}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={link} label="Copy the link" withWords />
    </Group>
  );
}
