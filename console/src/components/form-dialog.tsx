import { Alert, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  title: string;
  /** On the button that sends it: "Create". */
  save: string;
  onSave: () => void;
  onClose: () => void;
  busy?: boolean;
  disabled?: boolean;
  /** Whether what it does takes something away. */
  grave?: boolean;
  /** What is wrong with none of its fields. */
  error?: string | undefined;
  size?: string;
  children: ReactNode;
}

/** Asks for something, or whether something is to be done; Enter sends it, Escape closes it. */
export function FormDialog({
  title,
  save,
  onSave,
  onClose,
  busy = false,
  disabled = false,
  grave = false,
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
          if (!disabled && !busy) onSave();
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
            <Button variant="default" onClick={onClose} data-autofocus={grave || undefined}>
              Cancel
            </Button>
            <Button
              type="submit"
              data-autofocus={!grave || undefined}
              loading={busy}
              disabled={disabled}
              {...(grave ? { color: 'red' } : {})}
            >
              {save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
