import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asset as assetOf } from '../../queries/assets.ts';
import { AssayError, type Asset } from '../../queries/client.ts';
import { type AssetEdit, useEditAsset } from '../../queries/edit-asset.ts';
import { Dialog } from '../../components/dialog.tsx';
import { commonMessages } from '../../components/messages.ts';
import { errorText } from '../../components/notifications.tsx';
import { assetDialogMessages as messages } from './messages.ts';

interface EditAssetDialogProps {
  asset: Asset & { version: string };
  onClose: () => void;
}

const FIELDS = ['location', 'name', 'description'] as const;

/** Edits an asset. If someone else changed it, the user chooses which version to keep. */
export function EditAssetDialog({ asset, onClose }: EditAssetDialogProps) {
  // A refetch does not change the form.
  const [original, setOriginal] = useState(asset);
  const [values, setValues] = useState<Required<AssetEdit>>(asset);
  const client = useQueryClient();
  const edit = useEditAsset();
  const hasLocation = asset.assetType === 'host' || asset.assetType === 'webapp';
  const set = Object.fromEntries(
    FIELDS.filter((field) => (hasLocation || field !== 'location') && values[field] !== original[field]).map(
      (field) => [field, values[field]],
    ),
  );
  const { error } = edit;
  const fieldErrors = error instanceof AssayError ? error.fieldErrors : [];
  const fieldError = (field: string) =>
    fieldErrors.find(({ property }) => property === field)?.message ??
    (error instanceof AssayError && error.status === 409 && field === 'location' ? error.message : undefined);
  const isConflict = error instanceof AssayError && error.status === 412;
  const save = (overwrites: boolean) => edit.mutate({ original, set, overwrites }, { onSuccess: onClose });
  const reload = async () => {
    const latest = await client.fetchQuery({ ...assetOf(asset.uid), staleTime: 0 });
    setOriginal(latest);
    setValues(latest);
    edit.reset();
  };
  const input = (field: keyof AssetEdit) => ({
    value: values[field],
    error: fieldError(field),
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setValues((now) => ({ ...now, [field]: value }));
    },
  });
  return (
    <Dialog onClose={onClose} title={messages.editTitle} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (Object.keys(set).length > 0) save(false);
          else onClose();
        }}
      >
        <Stack gap="sm">
          {hasLocation && (
            <TextInput
              label={asset.assetType === 'host' ? messages.hostLocation : 'URL'}
              data-autofocus
              required
              maxLength={2_048}
              {...input('location')}
            />
          )}
          <TextInput label="Name" maxLength={255} required={!hasLocation} {...input('name')} />
          <Textarea
            label="Description"
            description={messages.markdown}
            autosize
            minRows={5}
            maxRows={16}
            maxLength={65_536}
            {...input('description')}
          />
          {isConflict && (
            <Alert color="yellow" title={messages.conflict}>
              <Stack gap="xs">
                <Text size="sm">{messages.notSaved}</Text>
                <Group gap="xs">
                  <Button size="compact-sm" variant="default" onClick={() => void reload()}>
                    {commonMessages.conflict.theirs}
                  </Button>
                  <Button size="compact-sm" onClick={() => save(true)}>
                    {commonMessages.conflict.mine}
                  </Button>
                </Group>
              </Stack>
            </Alert>
          )}
          {error !== null && !isConflict && fieldErrors.length === 0 && (
            <Alert color="red">{errorText(error)}</Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={edit.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
