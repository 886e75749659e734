import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { fillSentence } from '../../components/fill-sentence.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { useDeleteAssessment } from '../../queries/assessments.ts';
import { AssayError } from '../../queries/client.ts';
import { assessmentMessages as messages } from './messages.ts';

interface DeleteAssessmentDialogProps {
  uid: string;
  name: string;
  onClose: () => void;
}

/** Confirms the deletion of an assessment, and explains a conflict (operation 84). */
export function DeleteAssessmentDialog({ uid, name, onClose }: DeleteAssessmentDialogProps) {
  const remove = useDeleteAssessment(uid);
  const navigate = useNavigate();
  const { error } = remove;
  return (
    <FormDialog
      title={messages.deleteTitle}
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={error === null ? undefined : deletionErrorText(error)}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/assessments' }) })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {fillSentence(messages.deleteHint, { name: <b>{name}</b> })}
      </Text>
    </FormDialog>
  );
}

function deletionErrorText(error: Error): string {
  return error instanceof AssayError && error.status === 409
    ? messages.deleteConflict(error.message)
    : errorText(error);
}
