import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { notify } from './notifications.ts';
import type { SavedView } from './saved-views.ts';
import { Dialog } from './dialog.tsx';
import { commonMessages } from './messages.ts';

const MAX_NAME_LENGTH = 100;

interface ViewDialogProps {
  kind: 'save' | 'manage' | { link: string };
  views: readonly SavedView[];
  search: SavedView['search'];
  onSave: (views: readonly SavedView[]) => void;
  onClose: () => void;
}

/** Saves a view, renames and deletes views, or shows a link to copy by hand. */
export default function ViewDialog({ kind, views, search, onSave, onClose }: ViewDialogProps) {
  const messages = commonMessages.view;
  const title = kind === 'save' ? messages.save : kind === 'manage' ? messages.manage : messages.link;
  return (
    <Dialog onClose={onClose} title={title} size="sm">
      {kind === 'save' ? (
        <NameForm
          label="Save"
          name=""
          onSubmit={(name) => {
            const replaced = views.some((view) => view.name === name);
            onSave([...views.filter((view) => view.name !== name), { name, search }]);
            notify(replaced ? messages.replaced(name) : messages.saved(name), {
              undo: () => onSave(views),
            });
            onClose();
          }}
        />
      ) : kind === 'manage' ? (
        <Stack gap="md">
          {views.length === 0 && <Text size="sm">{messages.none}</Text>}
          {views.map((view) => (
            <Group key={view.name} gap="xs" wrap="nowrap" align="end">
              <NameForm
                label="Rename"
                name={view.name}
                takenNames={views.filter((existing) => existing !== view).map(({ name }) => name)}
                onSubmit={(name) => {
                  onSave(views.map((existing) => (existing === view ? { ...view, name } : existing)));
                  notify(messages.renamed(name), { undo: () => onSave(views) });
                }}
              />
              <ActionIcon
                size="lg"
                variant="subtle"
                color="red"
                aria-label={messages.remove(view.name)}
                onClick={() => {
                  onSave(views.filter((existing) => existing !== view));
                  notify(messages.removed(view.name), { undo: () => onSave(views) });
                }}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          ))}
        </Stack>
      ) : (
        <TextInput
          label="Link"
          readOnly
          data-autofocus
          value={kind.link}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </Dialog>
  );
}

interface NameFormProps {
  label: string;
  name: string;
  takenNames?: readonly string[];
  onSubmit: (name: string) => void;
}

function NameForm({ label, name, takenNames = [], onSubmit: onName }: NameFormProps) {
  const [typed, setTyped] = useState(name);
  const clean = typed.trim();
  const isTaken = takenNames.includes(clean);
  return (
    <form
      style={{ flex: 1 }}
      onSubmit={(event) => {
        event.preventDefault();
        if (clean !== '' && clean !== name && !isTaken) onName(clean);
      }}
    >
      <Group gap="xs" wrap="nowrap" align="end">
        <TextInput
          label="Name"
          flex={1}
          maxLength={MAX_NAME_LENGTH}
          data-autofocus
          value={typed}
          error={isTaken && commonMessages.view.nameTaken}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={clean === '' || clean === name || isTaken}>
          {label}
        </Button>
      </Group>
    </form>
  );
}
