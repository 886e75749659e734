import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { usePublishDrafts } from '../queries/bulk-update.ts';
import type { Vulnerability } from '../queries/client.ts';
import { FormDialog } from './form-dialog.tsx';
import { commonMessages } from './messages.ts';
import { errorText } from './notifications.tsx';
import { DraftBadge } from './vulnerability-badges.tsx';

const messages = commonMessages.draft;

/** Says below a heading that only staff see a draft, and publishes it. */
export function DraftNote({ vulnerability }: { vulnerability: Pick<Vulnerability, 'id' | 'draft'> }) {
  const [isPublishing, setPublishing] = useState(false);
  if (vulnerability.draft !== true) return null;
  return (
    <Group gap="xs">
      <DraftBadge vulnerability={vulnerability} />
      <Text size="sm">{messages.note}</Text>
      <Button size="compact-sm" variant="light" onClick={() => setPublishing(true)}>
        {messages.publish}
      </Button>
      {isPublishing && <PublishDialog ids={[vulnerability.id]} onClose={() => setPublishing(false)} />}
    </Group>
  );
}

interface PublishDialogProps {
  /** The ids of drafts. */
  ids: readonly number[];
  onClose: () => void;
  onPublished?: () => void;
}

/** Asks before drafts are published. */
export function PublishDialog({ ids, onClose, onPublished }: PublishDialogProps) {
  const publish = usePublishDrafts();
  return (
    <FormDialog
      title={messages.publishCount(ids.length)}
      submitLabel={messages.publishCount(ids.length)}
      isFinal
      isPending={publish.isPending}
      error={errorText(publish.error)}
      onClose={onClose}
      onSubmit={() =>
        publish.mutate(
          { ids },
          {
            onSuccess() {
              onClose();
              onPublished?.();
            },
          },
        )
      }
    >
      <Text size="sm">{messages.publishHint(ids.length)}</Text>
    </FormDialog>
  );
}
