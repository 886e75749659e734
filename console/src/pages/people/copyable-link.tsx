import { Group, TextInput } from '@mantine/core';
import { CopyButton } from '../../components/copy-button.tsx';
import { peopleMessages } from './messages.ts';

interface CopyableLinkProps {
  label: string;
  description: string;
  link: string;
}

/** A read-only link with a copy button. */
export function CopyableLink({ label, description, link }: CopyableLinkProps) {
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
      <CopyButton text={link} label={peopleMessages.invite.copyLink} variant="default" />
    </Group>
  );
}
