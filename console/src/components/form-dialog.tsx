import { Alert, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  title: string;
  /** On the button that sends it: "Create". */
  submitLabel: string;
  onSubmit: () => void;
  onClose: () => void;
  isPending?: boolean;
  isDisabled?: boolean;
  /** Whether what it does takes something away. */
  isDestructive?: boolean;
  /** What is wrong with none of its fields. */
  error?: string | undefined;
  size?: string;
  children: ReactNode;
}

/** Asks for something, or whether something is to be done; Enter sends it, Escape closes it. */
export function FormDialog({
  title,
  submitLabel,
  onSubmit: onSave,
  onClose,
  isPending = false,
  isDisabled = false,
  isDestructive = false,
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
            {/* Where no field of the dialog is marked, the focus begins on the button that does no harm. */}
            <Button variant="default" onClick={onClose} data-autofocus={isDestructive || undefined}>
              Cancel
            </Button>
            <Button
              type="submit"
              data-autofocus={!isDestructive || undefined}
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
