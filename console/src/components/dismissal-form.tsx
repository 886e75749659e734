import { useState } from 'react';
import { FormDialog } from './form-dialog.tsx';
import { MarkdownField } from './markdown-field.tsx';
import { commonMessages } from './messages.ts';

const messages = commonMessages.dismissal;

interface ReasonFieldProps {
  /** Set where the dialog is open already. */
  autoFocus?: boolean;
  value: string;
  onChange: (change: (previous: string) => string) => void;
}

/** The reason of a dismissal, which is posted as a comment. */
export function ReasonField({ autoFocus = false, value, onChange }: ReasonFieldProps) {
  return (
    <MarkdownField
      label={messages.reason}
      description={messages.reasonHint}
      data-autofocus
      autoFocus={autoFocus}
      required
      minRows={4}
      value={value}
      onChange={onChange}
    />
  );
}

interface DismissalDialogProps {
  /** The name of the status. */
  status: string;
  isPending?: boolean;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

/** Asks for the reason of a dismissal. */
export function DismissalDialog({ status, isPending = false, onConfirm, onClose }: DismissalDialogProps) {
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={messages.title(status)}
      submitLabel={messages.submit(status)}
      isPending={isPending}
      isDisabled={reason.trim() === ''}
      onSubmit={() => onConfirm(reason)}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}
