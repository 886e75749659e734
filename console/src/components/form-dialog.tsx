import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { editConflictMessages } from './edit-conflict-messages.ts';
import { notifyError } from './notifications.ts';

interface FormDialogProps {
  title: string;
  /** "Create". */
  submitLabel: string;
  onSubmit: () => void;
  onClose: () => void;
  isPending?: boolean;
  isDisabled?: boolean;
  /** Whether it deletes or revokes something. */
  isDestructive?: boolean;
  /** Whether Cancel gets the focus; by default if it is destructive. */
  isFinal?: boolean;
  /** An error that concerns no field. */
  error?: string | undefined;
  size?: string;
  children: ReactNode;
}

/** A form or a confirmation in a dialog. */
export function FormDialog({
  title,
  submitLabel,
  onSubmit: onSave,
  onClose,
  isPending = false,
  isDisabled = false,
  isDestructive = false,
  isFinal = isDestructive,
  error,
  size = 'md',
  children,
}: FormDialogProps) {
  return (
    <Dialog onClose={onClose} title={title} size={size}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isDisabled && !isPending) onSave();
        }}
      >
        <Stack gap="sm">
          {children}
          {error !== undefined && (
            <Alert color="red" role="alert">
              {error}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            {/* Unless a field has data-autofocus, the harmless button gets the focus. */}
            <Button variant="default" onClick={onClose} data-autofocus={isFinal || undefined}>
              Cancel
            </Button>
            <Button
              type="submit"
              data-autofocus={!isFinal || undefined}
              loading={isPending}
              disabled={isDisabled}
              {...(isDestructive ? { color: 'red' } : {})}
            >
              {submitLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface ConflictAlertProps {
  title: string;
  /** Shows the latest version in the form. */
  onTheirs: () => Promise<void>;
  onMine: () => Promise<void>;
}

/** Resolves an edit conflict in favour of one side. */
export function ConflictAlert({ title, onTheirs, onMine }: ConflictAlertProps) {
  const { notSaved, theirs, mine, loadFailed } = editConflictMessages;
  const run = (resolve: () => Promise<void>) => () =>
    void resolve().catch((error: unknown) => notifyError(loadFailed, error));
  return (
    <Alert color="yellow" role="alert" title={title}>
      <Text size="sm">{notSaved}</Text>
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={run(onTheirs)}>
          {theirs}
        </Button>
        <Button size="xs" variant="default" onClick={run(onMine)}>
          {mine}
        </Button>
      </Group>
    </Alert>
  );
}
