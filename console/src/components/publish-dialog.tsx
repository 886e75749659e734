import { Text } from '@mantine/core';
import { usePublishDrafts } from '../queries/publish-drafts.ts';
import { FormDialog } from './form-dialog.tsx';
import { commonMessages } from './messages.ts';
import { errorText } from './notifications.ts';

const messages = commonMessages.draft;

interface PublishDialogProps {
  /** The ids of drafts. */
  ids: readonly number[];
  onClose: () => void;
  onPublished?: () => void;
}

/** Asks before drafts are published. */
export default function PublishDialog({ ids, onClose, onPublished }: PublishDialogProps) {
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
