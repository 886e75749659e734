import { Button } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';

interface ActionProps {
  onClick: () => void;
}

/** Edits the object of a page. */
export function EditButton({ onClick }: ActionProps) {
  return (
    <Button size="xs" variant="default" leftSection={<IconPencil size={14} aria-hidden />} onClick={onClick}>
      Edit
    </Button>
  );
}

/** Deletes the object of a page, after a confirmation. */
export function DeleteButton({ onClick }: ActionProps) {
  return (
    <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={onClick}>
      Delete
    </Button>
  );
}
