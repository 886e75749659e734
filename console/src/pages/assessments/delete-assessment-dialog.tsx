import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useDeleteAssessment } from '../../queries/assessments.ts';
import { AssayError } from '../../queries/client.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';

interface DeleteAssessmentDialogProps {
  uid: string;
  name: string;
  onClose: () => void;
}

/** Asks whether an assessment is to be deleted, and says why it stays where it does (operation 84). */
export function DeleteAssessmentDialog({ uid, name, onClose }: DeleteAssessmentDialogProps) {
  const remove = useDeleteAssessment(uid);
  const navigate = useNavigate();
  const { error } = remove;
  return (
    <FormDialog
      title="Delete the assessment"
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={error === null ? undefined : deletionErrorText(error)}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/assessments' }) })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{name}</b> goes for good, with who has access to it, its scope and its rules. The assets stay. This
        cannot be undone.
      </Text>
    </FormDialog>
  );
}

function deletionErrorText(error: Error): string {
  return error instanceof AssayError && error.status === 409
    ? `${error.message} Remove those first, or complete the assessment instead: a completed one stays out of the way.`
    : errorText(error);
}
