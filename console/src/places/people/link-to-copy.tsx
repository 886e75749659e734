import { ActionIcon, Group, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** A link that one gives to somebody. */
export function LinkToCopy({
  label,
  description,
  link,
}: {
  label: string;
  description: string;
  link: string;
}) {
  const clipboard = useClipboard();
  return (
    <Group gap="xs" align="end" wrap="nowrap">
      <TextInput
        style={{ flex: 1 }}
        label={label}
        description={description}
        readOnly
        value={link}
        onFocus={(event) => event.currentTarget.select()}
      />
      <ActionIcon
        size={36}
        variant="default"
        aria-label={clipboard.copied ? 'The link is copied' : 'Copy the link'}
        onClick={() => clipboard.copy(link)}
      >
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Group>
  );
}
