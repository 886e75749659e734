import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Vulnerability } from '../queries/client.ts';
import { commonMessages } from './messages.ts';
import PublishDialog from './publish-dialog.tsx';
import { VulnerabilityMarks } from './vulnerability-badges.tsx';

const messages = commonMessages.draft;

/** Says below a heading that only staff see a draft, and publishes it. */
export default function DraftNote({ vulnerability }: { vulnerability: Pick<Vulnerability, 'id' | 'draft'> }) {
  const [isPublishing, setPublishing] = useState(false);
  if (vulnerability.draft !== true) return null;
  return (
    <Group gap="xs">
      <VulnerabilityMarks vulnerability={vulnerability} />
      <Text size="sm">{messages.note}</Text>
      <Button size="compact-sm" variant="light" onClick={() => setPublishing(true)}>
        {messages.publish}
      </Button>
      {isPublishing && <PublishDialog ids={[vulnerability.id]} onClose={() => setPublishing(false)} />}
    </Group>
  );
}
